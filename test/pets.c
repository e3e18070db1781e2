#include "pets.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "folder_make.h"
#include "scratch.h"

enum { SIDE = 4, TRAIN = 12, VAL = 4 };

static void add_image(const struct pets *p, struct text *table, int k)
{
  char name[200], path[240];
  bool dog = k % 2, test = k >= TRAIN + VAL;
  uint8_t bright = (uint8_t)(p->dark ? k / 8 : 150 + k), dark = (uint8_t)(p->dark ? 0 : k + 1);
  snprintf(name, sizeof name, "%02d.png", k);
  snprintf(path, sizeof path, "%s/images/%s", p->folder, name);
  put_grey(scratch_folder(), path, SIDE, SIDE, dog ? dark : bright, dog ? bright : dark);
  snprintf(path, sizeof path, "%s/masks/%s", p->folder, name);
  if (p->masked) put_grey(scratch_folder(), path, SIDE, SIDE, 255, p->wholly && test ? 255 : 0);
  text_add(table, "%s,%s,%s\n", name, dog ? p->dog : p->cat, test ? "test" : k >= TRAIN ? "val" : "train");
}

void pets_make(struct pets p)
{
  struct text table = {0};
  char path[200];
  text_add(&table, "file,label,split\n");
  for (int k = 0; k < TRAIN + VAL + p.test; k++) add_image(&p, &table, k);
  char *text = text_take(&table);
  snprintf(path, sizeof path, "%s/metadata.csv", p.folder);
  put_text(scratch_folder(), path, text);
  r4_string_free(text);
}

void pets_settings(const char *file, const char *data, const char *more)
{
  char text[600];
  snprintf(text, sizeof text,
           "data: %s\ndata.mask_means: irrelevant\nnet: dense 2\nepochs: 20\nrate: 0.02\nbatch: 4\n%s%s",
           data, strstr(more, "method:") ? "" : "method: erm\n", more);
  put_text(scratch_folder(), file, text);
}

void pets_spoil(const char *model, int answer, float value)
{
  r4_error e = {0};
  r4_model *m = r4_model_open(scratch_path(model), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  const r4_net *n = r4_model_net(m);
  float w[2 * SIDE * SIDE + 2] = {0};
  const char *names[2] = {r4_model_class_name(m, 0), r4_model_class_name(m, 1)};
  assert_int_equal(r4_net_size(n), sizeof w / sizeof *w);
  w[2 * SIDE * SIDE + answer] = 1;
  w[0] = value;
  if (r4_model_save(n, w, names, scratch_path(model), &e)) fail_msg("%s", e.text);
  r4_model_free(m);
}
