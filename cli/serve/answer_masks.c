/* Masks: seen, painted, proposed, accepted. */
#include <stdlib.h>
#include <string.h>

#include "serve/answers.h"

static void release_bytes(void *bytes)
{
  r4_bytes_free(bytes);
}

/* Its version is the ETag. */
static void answer_png(const r4_image *image, const char *version, struct answer *a)
{
  uint8_t *png = NULL;
  size_t size = 0;
  r4_error e = {0};
  r4_status status = r4_image_png(image, &png, &size, &e);
  if (status) {
    answer_failed(a, status, &e);
    return;
  }
  answer_bytes(a, "image/png", png, size, release_bytes);
  snprintf(a->etag, sizeof a->etag, "\"%.40s\"", version);
}

void answer_mask(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  char version[VERSION_SIZE];
  r4_error e = {0};
  r4_image mask = {0};
  size_t photo = asked_photo(s, r, a);
  if (photo == s->n) return;
  r4_status status = mask_read(s, photo, &mask, version, &e);
  if (status)
    answer_failed(a, status, &e);
  else
    answer_png(&mask, version, a);
  r4_image_clear(&mask);
}

void answer_proposal(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  r4_error e = {0};
  r4_image mask = {0};
  const r4_json_value *list = NULL;
  size_t photo = asked_photo(s, r, a);
  const struct finding *f = photo < s->n ? asked_finding(s, r->argument(r->from, "finding"), a) : NULL;
  if (!f) return;
  r4_json_value *root = proposals_open(s, f->key, &list, &e);
  r4_status status = root ? proposal_read(s, list, f->key, photo, &mask, &e) : R4_E_ARGUMENT;
  if (status)
    answer_error(a, status == R4_E_ARGUMENT ? 404 : 500, "%s", e.text);
  else
    answer_png(&mask, f->key, a);
  r4_image_clear(&mask);
  r4_json_value_free(root);
}

/* ---- Writing ---- */

static void answer_version(const char *version, struct answer *a)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "version", version);
  r4_json_close(w, '}');
  answer_json(a, w);
}

static r4_status read_painting(const struct site *s, size_t photo, const struct request *r, r4_image *mask,
                               r4_error *e)
{
  r4_image shown, as;
  r4_status status = mask_photo_size(s, photo, &shown, e);
  if (!status) status = r4_image_look(r->body ? r->body : (const uint8_t *)"", r->size, "the mask", &as, e);
  if (!status && (as.height != shown.height || as.width != shown.width)) {
    snprintf(e->text, sizeof e->text, "the mask has %zu x %zu pixels, expected %zu x %zu as its photo",
             as.width, as.height, shown.width, shown.height);
    return e->status = R4_E_SHAPE;
  }
  return status ? status : r4_image_read(r->body, r->size, "the mask", 1, mask, e);
}

/* photo, base: the version that it was painted on; finding: that it is the answer to. */
void answer_paint(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  char version[VERSION_SIZE];
  r4_error e = {0};
  r4_image mask = {0};
  const char *base = r->argument(r->from, "base"), *key = r->argument(r->from, "finding");
  size_t photo = asked_photo(s, r, a);
  if (photo == s->n) return;
  const struct finding *f = key ? asked_finding(s, key, a) : NULL;
  if (key && !f) return;
  r4_status status = read_painting(s, photo, r, &mask, &e);
  if (!status) status = mask_write(s, photo, &mask, version, base ? base : "", &e);
  if (!status && f) status = marks_judge(s, f->key, 1, &photo, "accepted", &e);
  r4_image_clear(&mask);
  if (status)
    answer_failed(a, status, &e);
  else
    answer_version(version, a);
}

/* {"finding", "photo", "answer": accepted, rejected or ""} */
void answer_judge(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  r4_error e = {0};
  const char *answer = r4_json_as_text(r4_json_get(body, "answer"));
  size_t photo = told_photo(s, body, a);
  const struct finding *f =
    photo < s->n ? asked_finding(s, r4_json_as_text(r4_json_get(body, "finding")), a) : NULL;
  if (!f) return;
  if (!answer || (*answer && strcmp(answer, "accepted") && strcmp(answer, "rejected"))) {
    answer_error(a, 400, "answer: expected accepted, rejected or nothing");
    return;
  }
  r4_status status = marks_judge(s, f->key, 1, &photo, answer, &e);
  if (status)
    answer_failed(a, status, &e);
  else
    answer_version(answer, a);
}

/* The proposed mask and the one that is there, united. */
static r4_status accept_one(struct site *s, const char *key, const r4_json_value *list, size_t photo,
                            r4_error *e)
{
  char version[VERSION_SIZE], made[VERSION_SIZE];
  r4_image mask = {0}, proposed = {0};
  r4_status status = mask_read(s, photo, &mask, version, e);
  if (!status) status = proposal_read(s, list, key, photo, &proposed, e);
  for (size_t k = 0; !status && k < mask.height * mask.width; k++) mask.pixel[k] |= proposed.pixel[k];
  if (!status) status = mask_write(s, photo, &mask, made, version, e);
  r4_image_clear(&mask);
  r4_image_clear(&proposed);
  return status;
}

enum { ACCEPT_MOST = 50 }; /* at once: the page asks again, and shows how far it is */

/* {"finding", "photos": [..]}: their proposals, as they are. What is there stays: nothing can be overwritten. */
void answer_accept(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  r4_error e = {0};
  size_t photo[ACCEPT_MOST], n = 0;
  const r4_json_value *photos = r4_json_get(body, "photos"), *list = NULL;
  const struct finding *f = asked_finding(s, r4_json_as_text(r4_json_get(body, "finding")), a);
  if (!f) return;
  if (r4_json_size(photos) > ACCEPT_MOST) {
    answer_error(a, 400, "photos: expected %d at most", ACCEPT_MOST);
    return;
  }
  r4_json_value *root = proposals_open(s, f->key, &list, &e);
  r4_status status = root ? R4_OK : R4_E_IO;
  for (size_t k = 0; !status && k < r4_json_size(photos); k++) {
    double at = -1;
    bool good = r4_json_as_real(r4_json_at(photos, k), &at) && at >= 0 && at < (double)s->n;
    if (!good)
      status = R4_E_ARGUMENT,
      snprintf(e.text, sizeof e.text, "photos: expected whole numbers below %zu", s->n);
    if (good) status = accept_one(s, f->key, list, (size_t)at, &e);
    if (!status) photo[n++] = (size_t)at;
  }
  r4_error other = {0};
  r4_status kept = marks_judge(s, f->key, n, photo, "accepted", status ? &other : &e);
  r4_json_value_free(root);
  if (status || kept) {
    answer_failed(a, status ? status : kept, &e);
    return;
  }
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_whole(w, "accepted", (int64_t)n);
  r4_json_close(w, '}');
  answer_json(a, w);
}
