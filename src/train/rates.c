#include "train/rates.h"

#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "module/net.h"

#define LABEL(key) setting_label(s, key).text

static void set_factor(const r4_net *net, struct pattern p, double value, double *factor)
{
  for (size_t k = 0; k < r4_net_params(net); k++)
    if (pattern_fits(p, r4_net_param_name(net, k))) factor[k] = value;
}

/* "layer4.* 0.1": a pattern, and behind its last space a factor. */
static bool split(struct pattern *p, double *factor)
{
  char number[40], *end;
  size_t at = p->length;
  while (at && p->s[at - 1] != ' ' && p->s[at - 1] != '\t') at--;
  size_t length = p->length - at;
  if (!at || length >= sizeof number) return false;
  memcpy(number, p->s + at, length);
  number[length] = 0;
  *factor = c_locale_real(number, &end);
  if (end == number || *end || !(*factor >= 0) || !isfinite(*factor)) return false;
  while (at && strchr(" \t", p->s[at - 1])) at--;
  p->length = at;
  return at;
}

static r4_status set_rates(const r4_settings *s, const r4_net *net, double *factor, r4_error *e)
{
  const char *list = s->values.rates;
  struct pattern p;
  r4_status status = R4_OK;
  while (!status && pattern_next(&list, &p)) {
    struct pattern all = p;
    double value = 1;
    if (!split(&p, &value))
      return r4_fail(e, R4_E_ARGUMENT,
                     "%s: \"%.*s\", expected names and a factor of at least 0, such as \"layer4.* 0.1, fc.* 1\"",
                     LABEL("rate.factors"), all.length < 80 ? (int)all.length : 80, all.s);
    status = net_check_pattern(net, LABEL("rate.factors"), p, e);
    if (!status) set_factor(net, p, value, factor);
  }
  return status;
}

static r4_status freeze(const r4_settings *s, const r4_net *net, double *factor, r4_error *e)
{
  const char *list = s->values.freeze;
  struct pattern p;
  r4_status status = net_check_patterns(net, LABEL("freeze"), list, e);
  while (!status && pattern_next(&list, &p)) set_factor(net, p, 0, factor);
  return status;
}

static r4_status check_something_learns(const r4_settings *s, const r4_net *net, const double *factor,
                                        r4_error *e)
{
  for (size_t k = 0; k < r4_net_params(net); k++)
    if (factor[k] > 0 && !r4_net_param_is_buffer(net, k)) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s and %s leave nothing to train: all %zu parameters of the net are frozen",
                 LABEL("freeze"), LABEL("rate.factors"), r4_net_params(net));
}

r4_status rates_of(const r4_settings *s, const r4_net *net, double *factor, r4_error *e)
{
  for (size_t k = 0; k < r4_net_params(net); k++) factor[k] = 1;
  r4_status status = set_rates(s, net, factor, e);
  if (!status) status = freeze(s, net, factor, e);
  return status ? status : check_something_learns(s, net, factor, e);
}

r4_status rates_of_head(const r4_settings *s, const r4_net *net, double *factor, r4_error *e)
{
  const char *head = s->values.head;
  bool learns = false;
  r4_status status = net_check_patterns(net, LABEL("from.head"), head, e);
  if (!status) status = rates_of(s, net, factor, e);
  for (size_t k = 0; k < r4_net_params(net) && !status; k++) {
    if (!pattern_any(head, r4_net_param_name(net, k))) factor[k] = 0;
    learns |= factor[k] > 0 && !r4_net_param_is_buffer(net, k);
  }
  if (status || learns) return status;
  return r4_fail(e, R4_E_ARGUMENT, "%s is %lld, but nothing of %s is trained", LABEL("from.head_epochs"),
                 (long long)s->values.head_epochs, LABEL("from.head"));
}

r4_status rates_set(r4_optimizer *o, const r4_net *net, const double *factor, r4_error *e)
{
  size_t n = r4_net_params(net);
  r4_rate_range *range = mem_new(n + 1, sizeof *range, "the rates of parameters", e);
  if (!range) return R4_E_MEMORY;
  for (size_t k = 0; k < n; k++)
    range[k] = (r4_rate_range){.first = r4_net_param_offset(net, k),
                               .count = (size_t)r4_shape_count(r4_net_param_shape(net, k)),
                               .factor = r4_net_param_is_buffer(net, k) ? 0 : factor[k]};
  r4_status s = r4_optimizer_set_ranges(o, n, range, e);
  r4_mem_free(range);
  return s;
}
