/* Who draws random numbers in the library. All in one list, as two that share a purpose would draw the same numbers.
 * A number never changes: it would change every data set and every run that was made with it. */
#ifndef R4_BASE_PURPOSE_H
#define R4_BASE_PURPOSE_H

enum {
  PURPOSE_WEIGHTS = 0x72340000, /* module/init.c: initial weights, step is the parameter */

  PURPOSE_DIGIT = 0x72340100, /* data/digits.c: which image, its label, its shape */
  PURPOSE_DIGIT_LABEL,
  PURPOSE_DIGIT_DETAIL,

  PURPOSE_FRACTION = 0x72340200, /* data/view.c: examples that stay */
  PURPOSE_ORDER = 0x72340210,    /* data/batch/batch.c: order of an epoch, and of its batches of texts */
  PURPOSE_BATCH_ORDER,
  PURPOSE_GROUP, /* and, if groups are equally likely, which group, which of its examples, and how it is seen */
  PURPOSE_GROUP_MEMBER,
  PURPOSE_GROUP_LOOK,

  PURPOSE_TEST = 0x72340300, /* data/split.c: examples of a part */
  PURPOSE_VAL,
  PURPOSE_CORNER = 0x72340310, /* data/decoy.c: where a patch is, and whose shade it has */
  PURPOSE_HALF,
  PURPOSE_CLASS,
  PURPOSE_NAME, /* data/known/recipe_imdb.c: which name a review gets, and where */
  PURPOSE_NAME_PLACE,
  PURPOSE_CORRECT = 0x72340320, /* data/mask_corrupt.c: masks that stay, and how others go wrong */
  PURPOSE_WRONG_FIRST,
  PURPOSE_WRONG_SECOND,
  PURPOSE_KEEP = 0x72340330,     /* data/mask.c: examples that keep their mask */
  PURPOSE_FILL = 0x72340340,     /* data/batch/mask_fill.c: content in place of masked content, of each epoch */
  PURPOSE_AUGMENT = 0x72340350,  /* data/batch/augment.c: how examples are moved and brightened, of each epoch */
  PURPOSE_COLOUR,                /* and how their colours change */
  PURPOSE_HOLES,                 /* data/batch/holes.c: and where they are hidden */
  PURPOSE_EXCHANGE = 0x72340360, /* data/batch/exchange.c: whose content an example gets, step is the draw */

  PURPOSE_SMOOTH = 0x72340400, /* measure/attribution.c: noise of SmoothGrad */
  PURPOSE_SWAP = 0x72340410,   /* measure/swap.c: whose content is put in an example, step is the draw */
  PURPOSE_REMOVE,              /* and what is put in its place where nobody else has it */
  PURPOSE_FOLLOW,              /* measure/follow.c: the same, step is the draw of either sort */

  PURPOSE_SENSITIVITY =
    0x72340420, /* measure/sensitivity.c: noise on regions, step is the example and the draw */

  PURPOSE_CLUSTERS = 0x72340428, /* find/clusters.c: where clusters begin, step is the class */

  PURPOSE_ATTACK = 0x72340430, /* certify/attack.c: where a search begins, step is the start */
  PURPOSE_FALSIFY,             /* certify/brancher.c: the same, for what is to be proved of a box */

  PURPOSE_START = 0x72340500, /* objective: starts of attacks, and noise, of each step */
  PURPOSE_NOISE,

  PURPOSE_WORDS, /* objective: words in place of words, and where */
  PURPOSE_CHANCE,
  /* Terms of a sum have purposes of their own: so much is added for each term before it. */
  PURPOSE_OF_TERM = 0x10,

  PURPOSE_DROPOUT =
    0x72340600, /* objective: features that a net leaves out; from here on, one for each such part */
};

#endif
