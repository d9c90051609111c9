"""One page after scoring: what the rewards of a file are like, why, and what to try.

batch        samples with their results, the prompts' groups found in one pass
figures      mean, share at the minimum, histogram, groups, lengths, metrics
reasons      like reasons counted together, with the likely remedy
truncation   signs that a response was cut off
unscored     errors counted together, and whose failure each is
labels       rewards against labels of the rows: precision, recall, accuracy
criteria     what a judge decided, criterion by criterion
surprising   rules by which a row is worth a look
excerpts     texts cut to the room that a page has for them
cases        one row with its prompt, response, reference and evidence
subject      the reward, its parameters and the judge's models
sentences    what there is to say in words: the lead, what to try
tables       the figures as tables and charts
page         all of it on one page
"""
