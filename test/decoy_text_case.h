/* Texts for training. A class has words of its own, and each text a decoy word, which is masked: it gives the class
 * away in training and says nothing afterwards. */
#ifndef DECOY_TEXT_CASE_H
#define DECOY_TEXT_CASE_H

#include "check.h"

enum { TEXT_TOKENS = 8, TEXT_WORDS = 16, TEXT_TRAIN = 300, TEXT_TEST = 200 };

/* flip: decoys are those of the other class. */
r4_data *decoy_text_case(bool flip);

#endif
