/* The claim "box": whatever is in the mask, within eps or within the valid range. */
#include <math.h>
#include <string.h>

#include "certify/certify.h"
#include "timer.h"

static bool asked(const struct certify_settings *o)
{
  return *o->eps || o->range;
}

static int check(const struct certify_settings *o)
{
  const char *wrong = *o->eps && o->range ? "--eps and --range: give one of the two"
                      : *o->cover         ? "--cover and a box: give one of the two"
                      : strcmp(o->semantics, "real") && strcmp(o->semantics, "any-float")
                        ? "--semantics: expected real or any-float"
                        : NULL;
  if (wrong) fprintf(stderr, "r4 certify: %s\n", wrong);
  return wrong ? EXIT_USAGE : EXIT_DONE;
}

static void file_name(const struct certify_settings *o, char *to, size_t size)
{
  const char *semantics = strcmp(o->semantics, "real") ? "-any-float" : "";
  snprintf(to, size, "box-%.40s%s", o->range ? "range" : o->eps, semantics);
}

/* "0,1", or the run's setting "range", or 0 to 1 for images, into the lines of the job. */
static bool find_range(struct certify_job *j)
{
  const char *valid = j->o->valid, *comma = strchr(valid, ',');
  r4_setting_value set = {0};
  r4_settings_get(j->run->settings, "range", &set, NULL);
  if (!strcmp(valid, "none")) return true;
  if (*valid && !comma) return false;
  if (*valid) {
    snprintf(j->line[0], PATH_SIZE, "%.*s", (int)(comma - valid), valid);
    snprintf(j->line[1], PATH_SIZE, "%s", comma + 1);
  } else if (set.n == 2) {
    snprintf(j->line[0], PATH_SIZE, "%.17g", set.reals[0]);
    snprintf(j->line[1], PATH_SIZE, "%.17g", set.reals[1]);
  } else if (r4_data_shape(j->data).rank == 3) {
    snprintf(j->line[0], PATH_SIZE, "0");
    snprintf(j->line[1], PATH_SIZE, "1");
  } else {
    return true;
  }
  j->certificate.low = j->line[0];
  j->certificate.high = j->line[1];
  return true;
}

struct watch_certify {
  const struct certify_job *j;
  const char *doing;
  double began;
};

static bool progress(size_t done, size_t of, void *user)
{
  struct watch_certify *w = user;
  certify_progress(w->j, w->doing, done, of, w->began);
  return true;
}

static int certify(struct certify_job *j)
{
  r4_certificate *c = &j->certificate;
  r4_error e = {0};
  struct watch_certify watch = {j, "bounds", timer_now()};
  if (!find_range(j)) {
    fprintf(stderr, "r4 certify: --valid %s: expected two decimals, such as 0,1, or none\n",
            shown(j->o->valid).text);
    return EXIT_USAGE;
  }
  *c = (r4_certificate){.claim = "box",
                        .semantics = j->o->semantics,
                        .method = "intervals",
                        .low = c->low,
                        .high = c->high,
                        .eps = j->o->range ? "range" : j->o->eps};
  r4_certify_options options = {.eps = j->o->range ? NULL : j->o->eps,
                                .low = c->low,
                                .high = c->high,
                                .semantics =
                                  strcmp(c->semantics, "real") ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL,
                                .radius = j->o->radius,
                                .gradient = j->o->gradient,
                                .progress = progress,
                                .user = &watch};
  r4_status s =
    r4_certify_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, &options, j->example, &e);
  j->attacked = !s && j->o->attack > 0;
  watch.doing = "attack";
  watch.began = timer_now();
  if (j->attacked)
    s = r4_attack_box(r4_model_net(j->model), r4_model_weights(j->model), j->data, &options, j->train,
                      (size_t)j->o->attack, 0, j->example, &e);
  return s ? cli_fail("certify", s, e.text) : EXIT_DONE;
}

const struct claim claim_box = {
  .name = "box", .asked = asked, .check = check, .file_name = file_name, .certify = certify};
