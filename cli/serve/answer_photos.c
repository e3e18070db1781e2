/* Lists of photos, and the photos themselves. */
#include <stdlib.h>
#include <string.h>

#include "serve/answers.h"

/* ---- Lists ---- */

struct row {
  size_t photo;
  const r4_json_value *of; /* the proposal, or the example of a finding; or NULL */
};

struct rows {
  size_t n;
  struct row *row;
  char *said;
};

static bool add_row(struct rows *to, const struct site *s, const r4_json_value *one)
{
  const char *file = r4_json_as_text(r4_json_get(one, "file"));
  size_t photo = file ? site_photo(s, file) : s->n;
  if (photo < s->n) to->row[to->n++] = (struct row){photo, one};
  return photo < s->n;
}

/* The photos of a finding: as its masks are proposed, most uncertain first, or else as it lists them. */
static bool list_finding(struct rows *to, const struct site *s, const r4_json_value *list)
{
  to->row = calloc(r4_json_size(list) + 1, sizeof *to->row);
  for (size_t k = 0; to->row && k < r4_json_size(list); k++) add_row(to, s, r4_json_at(list, k));
  return to->row;
}

static bool list_all(struct rows *to, const struct site *s)
{
  to->row = calloc(s->n, sizeof *to->row);
  for (size_t k = 0; to->row && k < s->n; k++) to->row[to->n++] = (struct row){k, NULL};
  return to->row;
}

static bool is_wanted(const struct site *s, const struct rows *rows, const struct row *row, const char *show)
{
  char said = rows->said ? rows->said[row->photo] : 0;
  if (!strcmp(show, "todo")) return !said && (rows->said || !s->masked[row->photo]);
  if (!strcmp(show, "done")) return rows->said ? said != 0 : s->masked[row->photo];
  return true;
}

static void put_row(r4_json *w, const struct site *s, const struct rows *rows, const struct row *row)
{
  static const char *const splits[] = {[R4_TRAIN] = "train", [R4_VAL] = "val", [R4_TEST] = "test"};
  static const char *const reals[] = {"score", "area", "sure"};
  r4_photo p = r4_photos_at(s->photos, row->photo);
  char said = rows->said ? rows->said[row->photo] : 0;
  r4_json_open(w, NULL, '{');
  r4_json_whole(w, "photo", (int64_t)row->photo);
  r4_json_text(w, "file", p.name);
  r4_json_text(w, "label", p.label);
  r4_json_text(w, "split", splits[p.split]);
  r4_json_flag(w, "masked", s->masked[row->photo]);
  r4_json_text(w, "said", said == 'a' ? "accepted" : said == 'r' ? "rejected" : NULL);
  r4_json_flag(w, "proposed", r4_json_get(row->of, "mask") != NULL);
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
    double v;
    if (r4_json_as_real(r4_json_get(row->of, reals[k]), &v)) r4_json_real(w, reals[k], v);
  }
  r4_json_close(w, '}');
}

static void put_rows(const struct site *s, const struct rows *rows, const char *show, long from, long n,
                     struct answer *a)
{
  size_t todo = 0, shown = 0;
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_open(w, "photos", '[');
  for (size_t k = 0; k < rows->n; k++) {
    todo += is_wanted(s, rows, rows->row + k, "todo");
    if (!is_wanted(s, rows, rows->row + k, show)) continue;
    if (shown >= (size_t)from && shown < (size_t)from + (size_t)n) put_row(w, s, rows, rows->row + k);
    shown++;
  }
  r4_json_close(w, ']');
  r4_json_whole(w, "total", (int64_t)shown);
  r4_json_whole(w, "all", (int64_t)rows->n);
  r4_json_whole(w, "todo", (int64_t)todo);
  r4_json_close(w, '}');
  answer_json(a, w);
}

void answer_photos(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  long from, n;
  r4_error e = {0};
  const char *show = r->argument(r->from, "show"), *key = r->argument(r->from, "finding");
  struct rows rows = {0};
  r4_json_value *proposals = NULL;
  const r4_json_value *list = NULL;
  if (!asked_whole(r, "from", 0, 0, 1000000000, &from, a) || !asked_whole(r, "n", 24, 1, 500, &n, a)) return;
  const struct finding *f = key ? asked_finding(s, key, a) : NULL;
  if (key && !f) return;
  if (f) proposals = proposals_open(s, key, &list, &e);
  if (f && !proposals) list = r4_json_get(f->json, "examples");
  bool good = f ? (rows.said = marks_said(s, key)) && list_finding(&rows, s, list) : list_all(&rows, s);
  if (good)
    put_rows(s, &rows, show ? show : "all", from, n, a);
  else
    answer_error(a, 500, "out of memory");
  free(rows.said);
  free(rows.row);
  r4_json_value_free(proposals);
}

/* ---- One photo ---- */

/* What is shown is what the file is now: its size and time say whether a browser has it already. Done: it has, or the
 * file is not there. */
static bool is_known(const struct site *s, const struct request *r, const char *path, const char *how,
                     struct answer *a)
{
  struct stamp now;
  char etag[sizeof a->etag];
  const char *has = r->header(r->from, "If-None-Match");
  if (place_stat(s, path, &now)) return false;
  snprintf(etag, sizeof etag, "\"%llx-%llx-%llx-%.16s\"", (unsigned long long)now.size,
           (unsigned long long)now.seconds, (unsigned long long)now.nanoseconds, how);
  if (has && !strcmp(has, etag)) {
    answer_bytes(a, "image/png", NULL, 0, NULL);
    a->status = 304;
  }
  memcpy(a->etag, etag, sizeof etag);
  return a->status == 304;
}

static void release_bytes(void *bytes)
{
  r4_bytes_free(bytes);
}

static void answer_image(const r4_image *image, struct answer *a)
{
  uint8_t *png = NULL;
  size_t size = 0;
  r4_error e = {0};
  char etag[sizeof a->etag];
  memcpy(etag, a->etag, sizeof etag);
  r4_status status = r4_image_png(image, &png, &size, &e);
  if (status) {
    answer_failed(a, status, &e);
    return;
  }
  answer_bytes(a, "image/png", png, size, release_bytes);
  memcpy(a->etag, etag, sizeof etag);
}

/* The part of an image in thousandths of its sides: left, top, width, height. */
static r4_status crop(const r4_image *from, const long part[4], r4_image *to, r4_error *e)
{
  size_t x = from->width * (size_t)part[0] / 1000, y = from->height * (size_t)part[1] / 1000;
  size_t w = from->width * (size_t)part[2] / 1000, h = from->height * (size_t)part[3] / 1000;
  if (x >= from->width) x = from->width - 1;
  if (y >= from->height) y = from->height - 1;
  w = w < 1 ? 1 : w > from->width - x ? from->width - x : w;
  h = h < 1 ? 1 : h > from->height - y ? from->height - y : h;
  *to = (r4_image){h, w, from->channels, malloc(h * w * from->channels)};
  if (!to->pixel) return snprintf(e->text, sizeof e->text, "out of memory"), e->status = R4_E_MEMORY;
  for (size_t k = 0; k < h; k++)
    memcpy(to->pixel + k * w * to->channels, from->pixel + ((y + k) * from->width + x) * to->channels,
           w * to->channels);
  return R4_OK;
}

/* At most side pixels on each side, and not larger than it is. */
static r4_status shrink(const r4_image *from, size_t side, r4_image *to, r4_error *e)
{
  size_t longer = from->height > from->width ? from->height : from->width;
  if (longer < side) side = longer;
  size_t h = from->height * side / longer, w = from->width * side / longer;
  return r4_image_resize(from, h ? h : 1, w ? w : 1, to, e);
}

static r4_status make_thumb(const struct site *s, const char *path, const long part[4], long side,
                            r4_image *to, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_image whole = {0}, cut = {0};
  if (place_read(s, path, MOST_PHOTO, &bytes, &size, NULL, e)) return R4_E_IO;
  r4_status status = r4_image_read(bytes, size, path, 3, &whole, e);
  free(bytes);
  if (!status) status = crop(&whole, part, &cut, e);
  r4_image_clear(&whole);
  if (!status) status = shrink(&cut, (size_t)side, to, e);
  free(cut.pixel);
  return status;
}

void answer_thumb(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  static const char *const name[] = {"x", "y", "w", "h"};
  long side, part[4];
  char how[17];
  r4_error e = {0};
  r4_image image = {0};
  size_t photo = asked_photo(s, r, a);
  if (photo == s->n || !asked_whole(r, "side", 160, 16, 1024, &side, a)) return;
  for (size_t k = 0; k < 4; k++)
    if (!asked_whole(r, name[k], k < 2 ? 0 : 1000, 0, 1000, &part[k], a)) return;
  const char *path = r4_photos_at(s->photos, photo).path;
  snprintf(how, sizeof how, "%lx%lx%lx%lx%lx", side, part[0], part[1], part[2], part[3]);
  if (is_known(s, r, path, how, a)) return;
  r4_status status = make_thumb(s, path, part, side, &image, &e);
  if (status)
    answer_failed(a, status == R4_E_PARSE ? R4_E_IO : status, &e);
  else
    answer_image(&image, a);
  r4_image_clear(&image);
}

/* As the file is; the browser turns it as it says, as the reader does. */
void answer_photo(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)body;
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_error e = {0};
  size_t photo = asked_photo(s, r, a);
  if (photo == s->n) return;
  const char *path = r4_photos_at(s->photos, photo).path;
  if (is_known(s, r, path, "photo", a)) return;
  char etag[sizeof a->etag];
  memcpy(etag, a->etag, sizeof etag);
  if (place_read(s, path, MOST_PHOTO, &bytes, &size, NULL, &e)) {
    answer_failed(a, R4_E_IO, &e);
    return;
  }
  bool jpeg = size > 2 && bytes[0] == 0xff && bytes[1] == 0xd8,
       png = size > 4 && !memcmp(bytes, "\x89PNG", 4);
  if (jpeg || png) {
    answer_bytes(a, jpeg ? "image/jpeg" : "image/png", bytes, size, free);
    memcpy(a->etag, etag, sizeof etag);
    return;
  }
  free(bytes);
  answer_error(a, 500, "%s: does not start as PNG or JPEG do", path);
}
