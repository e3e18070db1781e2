/* Recipes with decoys: Decoy MNIST of Ross et al. (2017), in the shades of the paper or of Ross; its variant with half
 * of the image of Heo et al. (2023); Decoy DERM; and decoys on any images. */
#include <string.h>

#include "base/mem.h"
#include "data/known/decoy.h"
#include "data/known/recipe.h"

/* The paper's shades are a third of Ross's: 85, 76, 68, 60, 51, 43, 35, 26, 18, 10 against 255, 230, ..., 30. */
static r4_status shade_divisor(const char *shades, const char *otherwise, int *divisor, r4_error *e)
{
  if (!shades) shades = otherwise;
  *divisor = !strcmp(shades, "paper") ? 3 : !strcmp(shades, "ross") ? 1 : 0;
  if (*divisor) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "shades %s, expected paper or ross", shades);
}

static size_t channels_of(const r4_data *d)
{
  r4_shape s = data_x(d)->shape;
  return s.rank == 3 ? (size_t)s.dim[2] : 1;
}

static size_t shorter_side(const r4_data *d)
{
  r4_shape s = data_x(d)->shape;
  return s.rank < 2 ? 1 : (size_t)(s.dim[0] < s.dim[1] ? s.dim[0] : s.dim[1]);
}

/* A seventh of the shorter side, 4 of 28 as on MNIST, unless stated. */
static size_t side_of(const r4_data *d, const r4_recipe_options *o)
{
  size_t side = shorter_side(d) / 7;
  return o->side ? (size_t)o->side : side ? side : 1;
}

typedef r4_data *decoy_drawer(const r4_data *d, const struct decoy *decoy, r4_error *e);

/* Draws decoys in greys, the usual ones unless others are asked for. Without usual ones: Ross's, and hues for images
 * with colours. */
static r4_data *draw_by_class(const r4_data *d, const r4_recipe_options *o, const char *usual,
                              decoy_drawer *draw, r4_error *e)
{
  size_t classes = d->classes->n, channels = channels_of(d);
  bool hues = channels == 3 && !usual;
  int divisor = 0;
  if (!hues && shade_divisor(o->shades, usual ? usual : "ross", &divisor, e)) return NULL;
  size_t most = hues ? 6 * 255 : (size_t)(250 / divisor);
  if (classes > most) {
    r4_fail(e, R4_E_ARGUMENT, "%zu classes, expected at most %zu, which have a colour each", classes, most);
    return NULL;
  }
  uint8_t *colour = mem_new(classes, channels, "colours", e);
  if (!colour) return NULL;
  if (hues)
    decoy_hues(classes, colour);
  else
    decoy_greys(classes, channels, divisor, colour);
  r4_data *made =
    draw(d, &(struct decoy){.side = side_of(d, o), .colour = colour, .seed = o->read.seed, .clean = o->clean}, e);
  r4_mem_free(colour);
  return made;
}

static r4_data *make_mnist(const r4_data *source, const r4_recipe_options *o, r4_error *e)
{
  return draw_by_class(source, o, "paper", decoy_corner, e);
}

static r4_data *make_half(const r4_data *source, const r4_recipe_options *o, r4_error *e)
{
  return draw_by_class(source, o, "paper", decoy_half, e);
}

static r4_data *make_any(const r4_data *source, const r4_recipe_options *o, r4_error *e)
{
  return draw_by_class(source, o, o->shades, decoy_corner, e);
}

/* ---- Decoy DERM ---- */

/* Melanocytic nevi: class nv of HAM10000, or 5 of the seven numbers of a DermaMNIST without names. */
static r4_status find_nevus(const struct names *classes, uint32_t *nevus, r4_error *e)
{
  if (names_find(classes, "nv", nevus)) return R4_OK;
  *nevus = 5;
  if (classes->n == 7 && !strcmp(classes->name[5], "5")) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "decoy-derm: %zu classes from %s to %s, expected one called nv, or 0 to 6",
                 classes->n, classes->name[0], classes->name[classes->n - 1]);
}

/* Label 0 for nevi and 1 for anything else. */
static r4_data *nevus_or_other(const r4_data *d, r4_error *e)
{
  uint32_t nevus = 0;
  if (find_nevus(d->classes, &nevus, e)) return NULL;
  r4_data *two = data_derive(d, e);
  struct names *classes = two ? names_new(e) : NULL;
  if (!classes) goto fail;
  names_drop(two->classes);
  two->classes = classes;
  if (names_add(classes, "nevus", NULL, e) || names_add(classes, "other", NULL, e)) goto fail;
  for (size_t i = 0; i < two->n; i++) two->record[i].label = two->record[i].label != (int32_t)nevus;
  return two;
fail:
  r4_data_free(two);
  return NULL;
}

static r4_data *make_derm(const r4_data *source, const r4_recipe_options *o, r4_error *e)
{
  /* (0.5, 0.5, 0.7) and (0.5, 0.7, 0.5): 127.5 and 178.5, rounded up */
  static const uint8_t colour[2][3] = {{128, 128, 179}, {128, 179, 128}};
  if (channels_of(source) != 3) {
    r4_fail(e, R4_E_ARGUMENT, "decoy-derm: images of %zu channels, expected 3", channels_of(source));
    return NULL;
  }
  r4_data *two = nevus_or_other(source, e);
  if (!two) return NULL;
  struct decoy decoy = {.side = o->side ? (size_t)o->side : shorter_side(source) / 4,
                        .colour = colour[0],
                        .seed = o->read.seed,
                        .clean = o->clean};
  r4_data *made = decoy_corner(two, &decoy, e);
  r4_data_free(two);
  return made;
}

/* What they have in common. */
#define NO_MNIST "r4 data get mnist, or take others: --from digits (settings: --set data.from=digits)"
#define DECOY .val = .1, .test = .2, .own_masks = true

const struct recipe recipe_decoy_mnist = {.name = "decoy-mnist",
                                          .about = "a grey 4x4 square in a corner, its shade is the label",
                                          .from = "mnist",
                                          .missing = NO_MNIST,
                                          DECOY,
                                          .greys = true,
                                          .make = make_mnist};
const struct recipe recipe_half_decoy_mnist = {.name = "half-decoy-mnist",
                                               .about =
                                                 "the digit in one half, the label's shade in the other",
                                               .from = "mnist",
                                               .missing = NO_MNIST,
                                               DECOY,
                                               .greys = true,
                                               .make = make_half};
const struct recipe recipe_decoy_derm = {
  .name = "decoy-derm",
  .about = "nevus or other, a square in a corner has the label's colour",
  .from = "ham10000",
  .missing = "r4 data get ham10000 says how to get it; or --from an npz file of DermaMNIST",
  .size = 64,
  DECOY,
  .make = make_derm};
const struct recipe recipe_decoy = {.name = "decoy",
                                    .about = "a square in a corner of any images, its colour is the label",
                                    DECOY,
                                    .greys = true,
                                    .make = make_any};
