#include "photographs.h"

#include <stdio.h>
#include <string.h>

#include "folder_make.h"

enum { SIDE = PHOTOGRAPH_SIDE };

void put_numbered(const char *folder, const char *format, int i, uint8_t left, uint8_t right)
{
  char name[64];
  snprintf(name, sizeof name, format, i);
  put_grey(folder, name, SIDE, SIDE, left, right);
}

char *photographs_isic_2017(void)
{
  char *folder = folder_new(), table[4096];
  int n = snprintf(table, sizeof table, "file,label,split_2017,patch,ruler,skin_marker,mask\n");
  for (int i = 0; i < 80; i++) {
    bool malignant = i < 20, patch = !i || i >= 60, masked = patch && i < 79;
    put_numbered(folder, "images/I%02d.png", i, (uint8_t)i, 100);
    if (masked) put_numbered(folder, "masks/I%02d.png", i, 127, 128);
    n += snprintf(table + n, sizeof table - (size_t)n, "I%02d.png,%s,train,%d,0,1,%d\n", i,
                  malignant ? "malignant" : "benign", patch, masked);
  }
  put_text(folder, "metadata_2017.csv", table);
  return folder;
}

char *photographs_plants(bool lists)
{
  char *folder = folder_new();
  static char train[1024], test[1024];
  size_t n[2] = {0};
  for (int i = 0; i < 16; i++) { /* plants 1 to 8, two photographs each */
    char name[64];
    snprintf(name, sizeof name, "images/%d_Z%d.png", 9 + i % 2, 1 + i / 2);
    put_grey(folder, name, SIDE, SIDE, (uint8_t)(10 + i), (uint8_t)(100 + 4 * i));
    snprintf(name, sizeof name, "masks/%d_Z%d.png", 9 + i % 2, 1 + i / 2);
    put_grey(folder, name, SIDE, SIDE, 0, 255); /* the leaf is on the right */
    char *to = i % 4 ? train : test;
    n[i % 4 == 0] +=
      (size_t)snprintf(to + n[i % 4 == 0], 1024 - n[i % 4 == 0], "%d_Z%d\n", 9 + i % 2, 1 + i / 2);
  }
  if (lists) put_text(folder, "rgb_dataset_splits/train_2.txt", train);
  if (lists) put_text(folder, "rgb_dataset_splits/test_2.txt", test);
  return folder;
}

char *photographs_leaves(void)
{
  static const char *const split[] = {"train", "train", "train", "train", "val", "test"};
  char *folder = folder_new(), table[4096];
  int n = snprintf(table, sizeof table, "file,label,split,site,train95,series\n");
  for (int i = 0; i < 48; i++) {
    bool late = i & 1, sunny = i & 2;
    put_numbered(folder, "images/l%02d.png", i, sunny ? 200 : 20, (uint8_t)(100 + i));
    put_numbered(folder, "masks/l%02d.png", i, 255, 0); /* the leaf is on the right */
    n += snprintf(table + n, sizeof table - (size_t)n, "l%02d.png,%d,%s,%s,%d,x\n", i, late, split[i / 4 % 6],
                  sunny ? "RS" : "GH", late != sunny || i < 8);
  }
  put_text(folder, "metadata.csv", table);
  return folder;
}

char *photographs_birds(void)
{
  char *folder = folder_new(), table[4096];
  int n = snprintf(table, sizeof table, "img_id,img_filename,y,split,place,place_filename\n");
  for (int i = 0; i < 24; i++) {
    put_numbered(folder, "001.Bird/b%02d.png", i, (uint8_t)i, i & 2 ? 200 : 50);
    put_numbered(folder, "segmentations/001.Bird/b%02d.png", i, 200, 100); /* the bird is on the left */
    n += snprintf(table + n, sizeof table - (size_t)n, "%d,001.Bird/b%02d.png,%d,%d,%d,/o/ocean/%d.jpg\n", i, i,
                  i & 1, i / 8, i >> 1 & 1, i);
  }
  put_text(folder, "metadata.csv", table);
  return folder;
}

char *photographs_pets(void)
{
  char *folder = folder_new(), table[4096];
  int n = snprintf(table, sizeof table, "image,threshold,bbox_xmin,bbox_ymin,bbox_xmax,bbox_ymax\n");
  for (int i = 0; i < 40; i++) {
    char name[64];
    snprintf(name, sizeof name, "images/%s_%d.png", i % 2 ? "beagle" : "Birman", i);
    uint8_t grey = (uint8_t)(100 + i);
    put_image(folder, name, 8, 8, 3, (uint8_t[]){grey, 80, 80}, (uint8_t[]){grey, 90, 90});
    n += snprintf(table + n, sizeof table - (size_t)n, "%s,0.5,128,256,383,383\n", name + strlen("images/"));
  }
  put_text(folder, "artifact_metadata.csv", table);
  return folder;
}
