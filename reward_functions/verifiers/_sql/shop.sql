-- A shop of our own making, for the worked examples of `sql_result`.
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  item TEXT NOT NULL,
  price REAL NOT NULL,
  quantity INTEGER NOT NULL,
  day TEXT NOT NULL
);
INSERT INTO customers VALUES
  (1, 'Ada', 'Lyon'), (2, 'Ben', 'Oslo'), (3, 'Cleo', 'Lyon'), (4, 'Dan', NULL), (5, 'Eve', 'Oslo');
INSERT INTO orders VALUES
  (1, 1, 'lamp', 19.9, 2, '2024-01-03'), (2, 1, 'chair', 45.5, 1, '2024-01-09'),
  (3, 2, 'lamp', 19.9, 1, '2024-02-01'), (4, 3, 'table', 120.0, 1, '2024-02-14'),
  (5, 3, 'chair', 45.5, 4, '2024-03-02'), (6, 5, 'vase', 8.25, 3, '2024-03-02');
