"""What `sql_result` is made of beside its declaration.

database   one database, which runs a SELECT within counted work and nothing else
gold       the rows that a reference asks for, in runs whose order counts
rows       whether rows are those that are asked for
shop.sql   the database of the worked examples
"""
