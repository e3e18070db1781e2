/* What people marked in images with other tools: outlines (polygons, boxes among them, and runs of pixels) of images
 * that are known by their names. Several outlines of an image are united. */
#ifndef R4_DATA_ANNOTATION_ANNOTATION_H
#define R4_DATA_ANNOTATION_ANNOTATION_H

#include "base/error.h"
#include "base/hash.h"
#include "picture/outline.h"

struct annotated {
  char *name, *alias;   /* what the file calls it, and what else its own may be called, or NULL */
  size_t height, width; /* what outlines are measured in; 0: the size of the image itself, or not known */
  size_t first, n;      /* its outlines, once finished */
  bool used;            /* an image of the data set has been found for it */
};

/* A name of an image: the whole, the last part of its path, or its alias. */
struct annotation_key {
  int rank;
  const char *text;
  size_t image;
};

struct annotations {
  char *file;     /* for messages */
  bool any_scale; /* it states the size that it measures in, which may well be another than the images have */
  uint8_t digest[HASH_BYTES];
  size_t images, image_room;
  struct annotated *image;
  size_t outlines, outline_room;
  struct outline *outline;
  size_t points, point_room; /* pairs of coordinates, x first */
  double *point;
  size_t runs, run_room;
  uint32_t *run;
  size_t keys;
  struct annotation_key *key;
};

/* Nothing in it yet. NULL when out of memory. */
struct annotations *annotations_new(const char *file, r4_error *e);
void annotations_free(struct annotations *a);

/* ---- Filling, in any order; where says in messages which record is in hand ---- */

/* height and width may be 0. Copies the names. An image may be added twice: its outlines are those of both. */
r4_status annotations_add_image(struct annotations *a, const char *name, const char *alias, size_t height,
                                size_t width, size_t *image, r4_error *e);
/* point: n pairs. R4_E_PARSE if there are fewer than 3, or one is not finite or absurd. */
r4_status annotations_add_polygon(struct annotations *a, size_t image, size_t n, const double *point,
                                  const char *where, r4_error *e);
r4_status annotations_add_box(struct annotations *a, size_t image, double x, double y, double width,
                              double height, const char *where, r4_error *e);
/* Runs of pixels that are not marked and marked in turns; they must fill height x width. */
r4_status annotations_add_runs(struct annotations *a, size_t image, const struct runs *runs,
                               const char *where, r4_error *e);

/* ---- Asking ---- */

/* After the last of the above: joins what is of one image, and makes images known by their names. */
r4_status annotations_finish(struct annotations *a, r4_error *e);
/* *image becomes the number + 1 of the annotated image that the file of a folder is; 0: none. By the whole path,
 * without "images/" before it, by the last part of it, or by the alias. R4_E_PARSE if it may be two. */
r4_status annotations_find(struct annotations *a, const char *file, size_t *image, r4_error *e);

/* Draws all outlines of an image over mask, height x width bytes, 255 where marked. R4_E_PARSE if the image has another
 * shape than its annotations. */
r4_status annotations_draw(const struct annotations *a, size_t image, size_t height, size_t width,
                           uint8_t *mask, struct outline_report *report, r4_error *e);

#endif
