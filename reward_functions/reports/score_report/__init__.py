"""One page after scoring: what the rewards of a file are like, why, and what to try.

figures      samples with their results, and what is counted of them: groups, lengths, metrics
digest       the same of a file of any size, for a terminal: a few numbers of each row
reasons      like reasons counted together, with the likely remedy; signs of truncation; errors
labels       rewards against labels of the rows: precision, recall, accuracy
criteria     what a judge decided, criterion by criterion
cases        rows that are worth a look, each with its prompt, response, reference and evidence
bar_rows     the rows of a bar, and the responses to one prompt side by side
tables       the figures as tables, charts and sentences
page         all of it on one page, with the reward, its parameters and the judge's models
"""
