"""What `math` asks beside equality: is an option meant, and is the question handed back?"""
