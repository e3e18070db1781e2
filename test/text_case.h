/* text_case.h - texts and their masks, for tests. */
#ifndef TEXT_CASE_H
#define TEXT_CASE_H

#include "r4.h"

#define VOCABULARY "test/tokens/vocab.txt"

/* The pieces of example i, those that are masked in round brackets. */
void assert_text(const r4_data *d, size_t i, const char *expected);

#endif
