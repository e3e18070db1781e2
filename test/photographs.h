/* Small folders in the layouts of photographs that cannot be fetched; folder_remove. */
#ifndef PHOTOGRAPHS_H
#define PHOTOGRAPHS_H

#include "check.h"

enum { PHOTOGRAPH_SIDE = 4 };

/* A grey one of that side, whose name has a number in it. */
void put_numbered(const char *folder, const char *format, int i, uint8_t left, uint8_t right);

/* ISIC 2017: 20 malignant ones, the first of them patched, 40 benign ones and 20 with patches, the last without a
 * mask. */
char *photographs_isic_2017(void);
/* Leaves on the right, of plants 1 to 8, two each; with lists every fourth is for test. */
char *photographs_plants(bool lists);
/* PlantVillage: 48 leaves on the right, label by the first bit of the number and site by the second. 32 are for
 * training, and of those 20 in train95: the first eight, and further on the healthy ones of RS and the blighted ones
 * of GH. */
char *photographs_leaves(void);
/* Waterbirds as published: 24 birds on the left, label and place by bits as above, 8 of each split. */
char *photographs_birds(void);
/* 20 cats and 20 dogs of 8 x 8, a box of 4 x 2 at (2, 4): 128 to 383 and 256 to 383 of 512. */
char *photographs_pets(void);

#endif
