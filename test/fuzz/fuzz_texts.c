/* Files of texts. The first byte says of which kind, the rest is the file: every text that is accepted has tokens of
 * the vocabulary, and masks on them alone; what is not is refused with a sentence that names the file. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "data/format/texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static void look(const r4_data *d)
{
  const struct column *x = data_x(d);
  for (size_t i = 0; i < d->n; i++) {
    size_t n = r4_data_length(d, i);
    const int32_t *id = column_row(x, d->record[i].row);
    const uint8_t *mask = data_mask_bytes(d, i);
    require(n >= 3 && n <= x->features);
    for (size_t k = 0; k < x->features; k++) require(id[k] >= 0 && id[k] < r4_data_vocabulary(d));
    require(!mask || (!mask[0] && !mask[n - 1])); /* [CLS] and [SEP] */
    for (size_t k = n; mask && k < x->features; k++) require(!mask[k]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const name[] = {"fuzz.csv", "fuzz.tsv", "fuzz.jsonl", "fuzz.txt"};
  if (!size) return 0;
  const char *file = name[data[0] % 4];
  const r4_data_options options = {.tokenizer = "test/tokens/vocab.txt",
                                   .mask_words = data[0] & 4 ? "good, unable" : NULL,
                                   .mask_means = data[0] & 8 ? R4_MASKS_RELEVANT : R4_MASKS_IRRELEVANT,
                                   .length = data[0] & 16 ? 8 : 0};
  struct texts t;
  r4_error e = {0};
  uint8_t *bytes = r4_mem_new(size, 1);
  memcpy(bytes, data + 1, size - 1);
  r4_status s = texts_open(&t, file, &options, &e);
  if (!s) s = texts_read(&t, file, bytes, size - 1, &e);
  r4_data *d = s ? NULL : texts_data(&t, "fuzz", &e);
  require(d || (e.status && strstr(e.text, "fuzz.")));
  if (d) look(d);
  r4_data_free(d);
  texts_close(&t);
  r4_mem_free(bytes);
  return 0;
}
