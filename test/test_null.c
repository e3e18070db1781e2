/* Functions of r4.h and r4_tools.h that can say what is wrong say it when something that they need is NULL: a status,
 * and a sentence that names the function and what is missing. The table has a line for each pointer of each such
 * function. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"

/* What calls get that is not NULL. */
static struct {
  r4_data *d;
  r4_net *n;
  r4_model *m;
  r4_settings *s, *learn;
  r4_graph *g;
  r4_plan *p;
  r4_id y;
  float *room; /* weights, and space for results */
  r4_optimizer *o;
  r4_batches *b;
  r4_reach *r;
  r4_trainer *t;
  r4_found *f;
  char path[300];
} have;

static const r4_certify_options box_options = {.eps = "0"};
static r4_certified one_certified[1];
static r4_verification verified;
static const int32_t one_word[1];
static double ends_room[1];

/* A line: the function; what is missing, or after "=" what the error says instead of "needs"; and the call, as one that
 * returns r4_status. */
#define CALLS(X)                                                                                             \
  X(r4_listed_words_count, "data", none(r4_listed_words_count(NULL, "", NULL, e), e))                        \
  X(r4_listed_words_count, "a list of words", none(r4_listed_words_count(have.d, NULL, NULL, e), e))         \
  X(r4_data_snippet, "data", none(r4_data_snippet(NULL, 0, 0, e), e))                                        \
  X(r4_find_clusters, "what was found", r4_find_clusters(NULL, have.n, have.room, have.d, NULL, e))          \
  X(r4_find_clusters, "a net", r4_find_clusters(have.f, NULL, have.room, have.d, NULL, e))                   \
  X(r4_find_clusters, "weights", r4_find_clusters(have.f, have.n, NULL, have.d, NULL, e))                    \
  X(r4_find_clusters, "data", r4_find_clusters(have.f, have.n, have.room, NULL, NULL, e))                    \
  X(r4_find_data, "a source", none(r4_find_data(NULL, NULL, e), e))                                          \
  X(r4_find_propose, "data", none(r4_find_propose(NULL, &(r4_clue){0}, NULL, e), e))                         \
  X(r4_find_propose, "a clue", none(r4_find_propose(have.d, NULL, NULL, e), e))                              \
  X(r4_find_scan, "data", none(r4_find_scan(NULL, NULL, e), e))                                              \
  X(r4_found_json, "what was found", none(r4_found_json(NULL, have.d, NULL, NULL, e), e))                    \
  X(r4_found_json, "data", none(r4_found_json(have.f, NULL, NULL, NULL, e), e))                              \
  X(r4_found_load, "a file", none(r4_found_load(NULL, have.d, e), e))                                        \
  X(r4_found_load, "data", none(r4_found_load(have.path, NULL, e), e))                                       \
  X(r4_found_save, "what was found", r4_found_save(NULL, have.d, NULL, NULL, have.path, e))                  \
  X(r4_found_save, "data", r4_found_save(have.f, NULL, NULL, NULL, have.path, e))                            \
  X(r4_found_save, "a file", r4_found_save(have.f, have.d, NULL, NULL, NULL, e))                             \
  X(r4_found_sheet, "what was found", r4_found_sheet(NULL, have.d, have.path, e))                            \
  X(r4_found_sheet, "data", r4_found_sheet(have.f, NULL, have.path, e))                                      \
  X(r4_found_sheet, "a file", r4_found_sheet(have.f, have.d, NULL, e))                                       \
  X(r4_proposed_sheet, "proposals", r4_proposed_sheet(NULL, have.d, have.path, e))                           \
  X(r4_proposed_sheet, "data", r4_proposed_sheet((const r4_proposed *)have.f, NULL, have.path, e))           \
  X(r4_proposed_sheet, "a file", r4_proposed_sheet((const r4_proposed *)have.f, have.d, NULL, e))            \
  X(r4_find_quick_net, "data", none(r4_find_quick_net(NULL, 0, e), e))                                       \
  X(r4_proposed_save, "proposals", r4_proposed_save(NULL, have.d, NULL, NULL, have.path, e))                 \
  X(r4_proposed_save, "data", \
    r4_proposed_save((const r4_proposed *)have.f, NULL, NULL, NULL, have.path, e))                           \
  X(r4_proposed_save, "a folder", \
    r4_proposed_save((const r4_proposed *)have.f, have.d, NULL, NULL, NULL, e))                              \
  X(r4_attack_box, "a net", \
    r4_attack_box(NULL, have.room, have.d, &box_options, NULL, 1, 0, one_certified, e))                      \
  X(r4_attack_box, "weights", \
    r4_attack_box(have.n, NULL, have.d, &box_options, NULL, 1, 0, one_certified, e))                         \
  X(r4_attack_box, "data", \
    r4_attack_box(have.n, have.room, NULL, &box_options, NULL, 1, 0, one_certified, e))                      \
  X(r4_attack_box, "options", r4_attack_box(have.n, have.room, have.d, NULL, NULL, 1, 0, one_certified, e)) \
  X(r4_attack_box, "what was certified", \
    r4_attack_box(have.n, have.room, have.d, &box_options, NULL, 1, 0, NULL, e))                             \
  X(r4_attribute, "a method", r4_attribute(NULL, have.n, have.room, have.d, NULL, have.room, e))             \
  X(r4_attribute, "a net", r4_attribute("gradient", NULL, have.room, have.d, NULL, have.room, e))            \
  X(r4_attribute, "weights", r4_attribute("gradient", have.n, NULL, have.d, NULL, have.room, e))             \
  X(r4_attribute, "data", r4_attribute("gradient", have.n, have.room, NULL, NULL, have.room, e))             \
  X(r4_attribute, "room for the result", r4_attribute("gradient", have.n, have.room, have.d, NULL, NULL, e)) \
  X(r4_batches_new, "data", none(r4_batches_new(NULL, &(r4_batch_options){.size = 2}, e), e))                \
  X(r4_batches_new, "options", none(r4_batches_new(have.d, NULL, e), e))                                     \
  X(r4_batches_seek, "batches", r4_batches_seek(NULL, 0, 0, e))                                              \
  X(r4_certificate_data_save, "a net", r4_certificate_data_save(NULL, have.d, have.path, e))                 \
  X(r4_certificate_data_save, "data", r4_certificate_data_save(have.n, NULL, have.path, e))                  \
  X(r4_certificate_data_save, "a path", r4_certificate_data_save(have.n, have.d, NULL, e))                   \
  X(r4_certificate_save, "a certificate", r4_certificate_save(NULL, have.path, e))                           \
  X(r4_certificate_save, "a path", r4_certificate_save(&(r4_certificate){0}, NULL, e))                       \
  X(r4_certified_measure, "data", r4_certified_measure(NULL, one_certified, "range", false, measured(), e))  \
  X(r4_certified_measure, "what was certified", r4_certified_measure(have.d, NULL, "0", false, measured(), e)) \
  X(r4_certified_measure, "a box", r4_certified_measure(have.d, one_certified, NULL, false, measured(), e))  \
  X(r4_certified_measure, "room for the result", r4_certified_measure(have.d, one_certified, "0", false, NULL, e)) \
  X(r4_proved_load, "room for the result", r4_proved_load(NULL, have.path, R4_TEST, "0123", e))              \
  X(r4_proved_load, "a folder", r4_proved_load(measured(), NULL, R4_TEST, "0123", e))                        \
  X(r4_proved_load, "the hash of the data", r4_proved_load(measured(), have.path, R4_TEST, NULL, e))         \
  X(r4_proved_save, "what was measured", r4_proved_save(NULL, have.path, R4_TEST, "0123", e))                \
  X(r4_proved_save, "a folder", r4_proved_save(measured(), NULL, R4_TEST, "0123", e))                        \
  X(r4_proved_save, "the hash of the data", r4_proved_save(measured(), have.path, R4_TEST, NULL, e))         \
  X(r4_certify_words, "a net", r4_certify_words(NULL, have.room, have.d, one_word, 1, &box_options, one_certified, e)) \
  X(r4_certify_words, "weights", r4_certify_words(have.n, NULL, have.d, one_word, 1, &box_options, one_certified, e)) \
  X(r4_certify_words, "data", r4_certify_words(have.n, have.room, NULL, one_word, 1, &box_options, one_certified, e)) \
  X(r4_certify_words, "a list of words",                                                                     \
    r4_certify_words(have.n, have.room, have.d, NULL, 1, &box_options, one_certified, e))                    \
  X(r4_certify_words, "options", r4_certify_words(have.n, have.room, have.d, one_word, 1, NULL, one_certified, e)) \
  X(r4_certify_words, "room for the result",                                                                 \
    r4_certify_words(have.n, have.room, have.d, one_word, 1, &box_options, NULL, e))                         \
  X(r4_settings_words, "settings", r4_settings_words(NULL, have.d, &(r4_word_ids){0}, e))                    \
  X(r4_settings_words, "data", r4_settings_words(have.s, NULL, &(r4_word_ids){0}, e))                        \
  X(r4_settings_words, "room for the result", r4_settings_words(have.s, have.d, NULL, e))                    \
  X(r4_certify_box, "a net", r4_certify_box(NULL, have.room, have.d, &box_options, one_certified, e)) \
  X(r4_certify_box, "weights", r4_certify_box(have.n, NULL, have.d, &box_options, one_certified, e)) \
  X(r4_certify_box, "data", r4_certify_box(have.n, have.room, NULL, &box_options, one_certified, e)) \
  X(r4_certify_box, "options", r4_certify_box(have.n, have.room, have.d, NULL, one_certified, e)) \
  X(r4_certify_box, "room for the result", r4_certify_box(have.n, have.room, have.d, &box_options, NULL, e)) \
  X(r4_branch_box, "a net", r4_branch_box(NULL, have.room, have.d, &box_options, one_certified, e)) \
  X(r4_branch_box, "weights", r4_branch_box(have.n, NULL, have.d, &box_options, one_certified, e)) \
  X(r4_branch_box, "data", r4_branch_box(have.n, have.room, NULL, &box_options, one_certified, e)) \
  X(r4_branch_box, "options", r4_branch_box(have.n, have.room, have.d, NULL, one_certified, e)) \
  X(r4_branch_box, "what was certified", r4_branch_box(have.n, have.room, have.d, &box_options, NULL, e)) \
  X(r4_verify, "a model", r4_verify(NULL, have.path, 1, &verified, e)) \
  X(r4_verify, "a specification", r4_verify(have.m, NULL, 1, &verified, e)) \
  X(r4_verify, "room for the result", r4_verify(have.m, have.path, 1, NULL, e)) \
  X(r4_vnnlib_save, "a net", r4_vnnlib_save(NULL, have.d, 0, 0, &box_options, have.path, e)) \
  X(r4_vnnlib_save, "data", r4_vnnlib_save(have.n, NULL, 0, 0, &box_options, have.path, e)) \
  X(r4_vnnlib_save, "options", r4_vnnlib_save(have.n, have.d, 0, 0, NULL, have.path, e)) \
  X(r4_vnnlib_save, "a path", r4_vnnlib_save(have.n, have.d, 0, 0, &box_options, NULL, e)) \
  X(r4_data_check_overlap, "data", r4_data_check_overlap(NULL, e))                                           \
  X(r4_cover_new, "a family", none(r4_cover_new(NULL, R4_SHAPE(4, 4, 1), e), e))                             \
  X(r4_cover_predict, "a net", r4_cover_predict(NULL, have.room, have.d, &covered, covers, e))               \
  X(r4_cover_predict, "weights", r4_cover_predict(have.n, NULL, have.d, &covered, covers, e))                \
  X(r4_cover_predict, "data", r4_cover_predict(have.n, have.room, NULL, &covered, covers, e))                \
  X(r4_cover_predict, "a family and its constant",                                                           \
    r4_cover_predict(have.n, have.room, have.d, NULL, covers, e))                                            \
  X(r4_cover_predict, "room for the result", r4_cover_predict(have.n, have.room, have.d, &covered, NULL, e)) \
  X(r4_data_constant, "data", r4_data_constant(NULL, 1, have.room, e))                                       \
  X(r4_data_constant, "room for the constant", r4_data_constant(have.d, 1, NULL, e))                         \
  X(r4_data_images_hidden, "files",                                                                          \
    none(r4_data_images_hidden(NULL, &one_text, false, 1, R4_SHAPE(4, 4, 1), have.room, NULL, e), e))        \
  X(r4_data_images_hidden, "masks",                                                                          \
    none(r4_data_images_hidden(&one_text, NULL, false, 1, R4_SHAPE(4, 4, 1), have.room, NULL, e), e))        \
  X(r4_data_images_hidden, "a constant",                                                                     \
    none(r4_data_images_hidden(&one_text, &one_text, false, 1, R4_SHAPE(4, 4, 1), NULL, NULL, e), e))        \
  X(r4_data_corrupt_masks, "data", none(r4_data_corrupt_masks(NULL, (r4_corruption)1, .5, 0, e), e))         \
  X(r4_data_drop_overlap, "data", none(r4_data_drop_overlap(NULL, NULL, e), e))                              \
  X(r4_data_fill, "data", none(r4_data_fill(NULL, (r4_fill)1, 0, 0, e), e))                                  \
  X(r4_data_fraction, "data", none(r4_data_fraction(NULL, .5, 0, e), e))                                     \
  X(r4_data_hold_out, "data", none(r4_data_hold_out(NULL, .5, 0, e), e))                                     \
  X(r4_data_images, "=r4_data_images: file 0 of 1 is NULL",                                                  \
    none(r4_data_images(no_text, 1, R4_SHAPE(4, 4, 1), NULL, e), e))                                         \
  X(r4_data_images_hidden, "=r4_data_images_hidden: file 0 of 1 is NULL",                                    \
    none(r4_data_images_hidden(no_text, &one_text, false, 1, R4_SHAPE(4, 4, 1), have.room, NULL, e), e))     \
  X(r4_data_images_hidden, "=r4_data_images_hidden: mask 0 of 1 is NULL",                                    \
    none(r4_data_images_hidden(&one_text, no_text, false, 1, R4_SHAPE(4, 4, 1), have.room, NULL, e), e))     \
  X(r4_data_texts, "=r4_data_texts: text 0 of 1 is NULL",                                                    \
    none(r4_data_texts(no_text, NULL, NULL, &labelled, NULL, e), e))                                         \
  X(r4_data_relabel, "=r4_data_relabel: name 0 of 1 is NULL",                                                \
    none(r4_data_relabel(have.d, (int32_t[40]){0}, 1, no_text, e), e))                                       \
  X(r4_data_new, "=r4_data_new: class_names: name 0 of 1 is NULL", none(r4_data_new(&nameless, e), e))       \
  X(r4_model_new, "=r4_model_new: class name 0 of 10 is NULL",                                               \
    none(r4_model_new(have.n, have.room, no_text, e), e))                                                    \
  X(r4_model_save, "=r4_model_save: class name 0 of 10 is NULL",                                             \
    r4_model_save(have.n, have.room, no_text, have.path, e))                                                 \
  X(r4_onnx_save, "=r4_onnx_save: class name 0 of 10 is NULL",                                               \
    r4_onnx_save(have.n, have.room, no_text, have.path, e))                                                  \
  X(r4_cover_predict, "a family and its constant",                                                           \
    r4_cover_predict(have.n, have.room, have.d, &(r4_cover_options){0}, covers, e))                          \
  X(r4_certificate_save, "a claim, its semantics and a method",                                              \
    r4_certificate_save(&(r4_certificate){0}, have.path, e))                                                 \
  X(r4_measure, "=r4_pointing_game: needs a method, got NULL",                                               \
    r4_measure(have.n, have.room, have.d, &pointing, measured(), e))                                         \
  X(r4_data_images, "files", none(r4_data_images(NULL, 1, R4_SHAPE(4, 4, 1), NULL, e), e))                   \
  X(r4_data_invert_masks, "data", none(r4_data_invert_masks(NULL, e), e))                                    \
  X(r4_data_keep_masks, "data", none(r4_data_keep_masks(NULL, .5, 0, e), e))                                 \
  X(r4_data_lint, "data", r4_data_lint(NULL, NULL, (r4_finding[R4_FINDINGS]){{0}}, &(size_t){0}, e))         \
  X(r4_data_lint, "room for findings", r4_data_lint(have.d, NULL, NULL, &(size_t){0}, e))                    \
  X(r4_data_lint, "room for their number",                                                                   \
    r4_data_lint(have.d, NULL, (r4_finding[R4_FINDINGS]){{0}}, NULL, e))                                     \
  X(r4_data_lint_masks, "data", r4_data_lint_masks(NULL, (r4_finding[R4_FINDINGS]){{0}}, &(size_t){0}, e))   \
  X(r4_data_lint_masks, "room for findings", r4_data_lint_masks(have.d, NULL, &(size_t){0}, e))              \
  X(r4_data_lint_masks, "room for their number",                                                             \
    r4_data_lint_masks(have.d, (r4_finding[R4_FINDINGS]){{0}}, NULL, e))                                     \
  X(r4_data_make, "=no recipe is called", none(r4_data_make(NULL, NULL, e), e))                              \
  X(r4_data_mean, "data", r4_data_mean(NULL, have.room, e))                                                  \
  X(r4_data_mean, "room for the mean", r4_data_mean(have.d, NULL, e))                                        \
  X(r4_data_new, "arrays", none(r4_data_new(NULL, e), e))                                                    \
  X(r4_data_new, "labels", none(r4_data_new(&(r4_data_arrays){.n = 1}, e), e))                               \
  X(r4_data_texts, "texts", none(r4_data_texts(NULL, NULL, NULL, &labelled, NULL, e), e))                    \
  X(r4_data_texts, "arrays", none(r4_data_texts(&one_text, NULL, NULL, NULL, NULL, e), e))                   \
  X(r4_data_texts, "labels", none(r4_data_texts(&one_text, NULL, NULL, &(r4_data_arrays){0}, NULL, e), e))   \
  X(r4_data_texts, "the spans that are counted",                                                             \
    none(r4_data_texts(&one_text, &one_span, NULL, &labelled, NULL, e), e))                                  \
  X(r4_data_open, "=no source is given", none(r4_data_open(NULL, NULL, e), e))                               \
  X(r4_data_part, "data", none(r4_data_part(NULL, R4_TRAIN, e), e))                                          \
  X(r4_data_giveaway_words, "data",                                                                          \
    r4_data_giveaway_words(NULL, 1, &(r4_giveaway_word){0}, &(size_t){0}, e))                                \
  X(r4_data_giveaway_words, "room for words", r4_data_giveaway_words(have.d, 1, NULL, &(size_t){0}, e))      \
  X(r4_data_giveaway_words, "room for their number",                                                         \
    r4_data_giveaway_words(have.d, 1, &(r4_giveaway_word){0}, NULL, e))                                      \
  X(r4_data_relabel, "data", none(r4_data_relabel(NULL, (int32_t[40]){0}, 1, &(const char *){"a"}, e), e))   \
  X(r4_data_relabel, "labels", none(r4_data_relabel(have.d, NULL, 1, &(const char *){"a"}, e), e))           \
  X(r4_data_relabel, "names", none(r4_data_relabel(have.d, (int32_t[40]){0}, 1, NULL, e), e))                \
  X(r4_data_save, "data", r4_data_save(NULL, have.path, e))                                                  \
  X(r4_data_save, "=no file is named", r4_data_save(have.d, NULL, e))                                        \
  X(r4_data_sheet, "data", r4_data_sheet(NULL, (r4_sheet_rows)0, 3, have.path, e))                           \
  X(r4_data_sheet, "=no file is named", r4_data_sheet(have.d, (r4_sheet_rows)0, 3, NULL, e))                 \
  X(r4_data_soften_masks, "data", none(r4_data_soften_masks(NULL, .5, e), e))                                \
  X(r4_data_split, "data", none(r4_data_split(NULL, .1, .1, 0, e), e))                                       \
  X(r4_data_subset, "data", none(r4_data_subset(NULL, 1, (size_t[]){0}, e), e))                              \
  X(r4_data_subset, "examples", none(r4_data_subset(have.d, 1, NULL, e), e))                                 \
  X(r4_file_check, "=no file is named", r4_file_check(NULL, "0123", e))                                      \
  X(r4_file_check, "a digest", r4_file_check(have.path, NULL, e))                                            \
  X(r4_enclose, "a graph", r4_enclose(NULL, have.y, 0, NULL, R4_SEMANTICS_REAL, ends_room, ends_room, e))    \
  X(r4_enclose, "inputs", r4_enclose(have.g, have.y, 1, NULL, R4_SEMANTICS_REAL, ends_room, ends_room, e))   \
  X(r4_enclose, "room for the result",                                                                       \
    r4_enclose(have.g, have.y, 0, NULL, R4_SEMANTICS_REAL, NULL, NULL, e))                                   \
  X(r4_file_hash, "a path", r4_file_hash(NULL, (char[R4_HASH_SIZE]){0}, e))                                  \
  X(r4_file_hash, "room for the result", r4_file_hash(have.path, NULL, e))                                   \
  X(r4_graph_parse, "text", none(r4_graph_parse(NULL, 1, &(r4_id){0}, &(size_t){0}, e), e))                  \
  X(r4_graph_parse, "room for outputs", none(r4_graph_parse("", 1, NULL, &(size_t){0}, e), e))               \
  X(r4_graph_parse, "room for their number", none(r4_graph_parse("", 1, &(r4_id){0}, NULL, e), e))           \
  X(r4_heat_examples, "data", r4_heat_examples(NULL, 1, NULL, &(size_t){0}, &(size_t){0}, e))                \
  X(r4_heat_examples, "room for examples", r4_heat_examples(have.d, 1, NULL, NULL, &(size_t){0}, e))         \
  X(r4_heat_examples, "room for their number", r4_heat_examples(have.d, 1, NULL, &(size_t){0}, NULL, e))     \
  X(r4_heat_picture, "a subject", r4_heat_picture(NULL, 1, have.d, &heat, have.path, NULL, e))               \
  X(r4_heat_picture, "options", r4_heat_picture(&(r4_subject){0}, 1, have.d, NULL, have.path, NULL, e))      \
  X(r4_heat_picture, "data", r4_heat_picture(&(r4_subject){0}, 1, NULL, &heat, have.path, NULL, e))          \
  X(r4_text_picture, "a subject", r4_text_picture(NULL, 1, have.d, &heat, have.path, NULL, e))               \
  X(r4_text_picture, "options", r4_text_picture(&(r4_subject){0}, 1, have.d, NULL, have.path, NULL, e))      \
  X(r4_text_picture, "data", r4_text_picture(&(r4_subject){0}, 1, NULL, &heat, have.path, NULL, e))          \
  X(r4_text_picture, "a file", r4_text_picture(&(r4_subject){0}, 1, have.d, &heat, NULL, NULL, e))           \
  X(r4_lambda_search, "settings", r4_lambda_search(NULL, &somewhere, &(r4_lambda_curve){0}, &(bool){0}, e))  \
  X(r4_lambda_search, "options", r4_lambda_search(have.s, NULL, &(r4_lambda_curve){0}, &(bool){0}, e))       \
  X(r4_lambda_search, "a folder", r4_lambda_search(have.s, &nowhere, &(r4_lambda_curve){0}, &(bool){0}, e))  \
  X(r4_lambda_search, "room for the curve", r4_lambda_search(have.s, &somewhere, NULL, &(bool){0}, e))       \
  X(r4_lambda_search, "room to say that it was stopped",                                                     \
    r4_lambda_search(have.s, &somewhere, &(r4_lambda_curve){0}, NULL, e))                                    \
  X(r4_lock_take, "a folder", none(r4_lock_take(NULL, false, e), e))                                         \
  X(r4_measure_predictions, "data", r4_measure_predictions(NULL, 2, have.room, NULL, measured(), e))         \
  X(r4_measure_predictions, "probabilities", r4_measure_predictions(have.d, 2, NULL, NULL, measured(), e))   \
  X(r4_measure_predictions, "room for the result",                                                           \
    r4_measure_predictions(have.d, 2, have.room, NULL, NULL, e))                                             \
  X(r4_measured_load, "room for the result", r4_measured_load(NULL, have.path, R4_TEST, "0123", .1, e))      \
  X(r4_measured_load, "a folder", r4_measured_load(measured(), NULL, R4_TEST, "0123", .1, e))                \
  X(r4_measured_load, "the hash of the data", r4_measured_load(measured(), have.path, R4_TEST, NULL, .1, e)) \
  X(r4_measured_save, "what was measured", r4_measured_save(NULL, have.path, R4_TEST, "0123", e))            \
  X(r4_measured_save, "a folder", r4_measured_save(measured(), NULL, R4_TEST, "0123", e))                    \
  X(r4_measured_save, "the hash of the data", r4_measured_save(measured(), have.path, R4_TEST, NULL, e))     \
  X(r4_model_new, "a net", none(r4_model_new(NULL, have.room, NULL, e), e))                                  \
  X(r4_model_new, "weights", none(r4_model_new(have.n, NULL, NULL, e), e))                                   \
  X(r4_model_set_constant, "a model", r4_model_set_constant(NULL, 1, grey, e))                               \
  X(r4_model_set_constant, "a constant", r4_model_set_constant(have.m, 1, NULL, e))                          \
  X(r4_model_write, "a model", r4_model_write(NULL, have.path, e))                                           \
  X(r4_model_write, "=no file is named", r4_model_write(have.m, NULL, e))                                    \
  X(r4_model_save, "a net", r4_model_save(NULL, have.room, NULL, have.path, e))                              \
  X(r4_model_save, "weights", r4_model_save(have.n, NULL, NULL, have.path, e))                               \
  X(r4_model_save, "=no file is named", r4_model_save(have.n, have.room, NULL, NULL, e))                     \
  X(r4_onnx_save, "a net", r4_onnx_save(NULL, have.room, NULL, have.path, e))                                \
  X(r4_onnx_save, "weights", r4_onnx_save(have.n, NULL, NULL, have.path, e))                                 \
  X(r4_onnx_save, "a path", r4_onnx_save(have.n, have.room, NULL, NULL, e))                                  \
  X(r4_core_sensitivity, "a net",                                                                            \
    r4_core_sensitivity(NULL, have.room, have.d, NULL, &(r4_sensitivity){0}, e))                             \
  X(r4_core_sensitivity, "weights",                                                                          \
    r4_core_sensitivity(have.n, NULL, have.d, NULL, &(r4_sensitivity){0}, e))                                \
  X(r4_core_sensitivity, "data",                                                                             \
    r4_core_sensitivity(have.n, have.room, NULL, NULL, &(r4_sensitivity){0}, e))                             \
  X(r4_core_sensitivity, "room for the result",                                                              \
    r4_core_sensitivity(have.n, have.room, have.d, NULL, NULL, e))                                           \
  X(r4_swap_data, "weights", none(r4_swap_data(have.n, NULL, have.d, NULL, NULL, e), e))                     \
  X(r4_swap_data, "data", none(r4_swap_data(have.n, have.room, NULL, NULL, NULL, e), e))                     \
  X(r4_evaluate, "a net", r4_evaluate(NULL, have.room, have.d, NULL, metrics(), e))                          \
  X(r4_evaluate, "weights", r4_evaluate(have.n, NULL, have.d, NULL, metrics(), e))                           \
  X(r4_evaluate, "data", r4_evaluate(have.n, have.room, NULL, NULL, metrics(), e))                           \
  X(r4_evaluate, "room for the result", r4_evaluate(have.n, have.room, have.d, NULL, NULL, e))               \
  X(r4_measure, "a net", r4_measure(NULL, have.room, have.d, NULL, measured(), e))                           \
  X(r4_measure, "weights", r4_measure(have.n, NULL, have.d, NULL, measured(), e))                            \
  X(r4_measure, "data", r4_measure(have.n, have.room, NULL, NULL, measured(), e))                            \
  X(r4_measure, "room for the result", r4_measure(have.n, have.room, have.d, NULL, NULL, e))                 \
  X(r4_exchanged_score, "a net", r4_exchanged_score(NULL, have.room, have.d, 0, 8, &(r4_exchanged){0}, e))   \
  X(r4_exchanged_score, "weights", r4_exchanged_score(have.n, NULL, have.d, 0, 8, &(r4_exchanged){0}, e))    \
  X(r4_exchanged_score, "data", r4_exchanged_score(have.n, have.room, NULL, 0, 8, &(r4_exchanged){0}, e))    \
  X(r4_exchanged_score, "room for the result", r4_exchanged_score(have.n, have.room, have.d, 0, 8, NULL, e)) \
  X(r4_swap_test, "a net", r4_swap_test(NULL, have.room, have.d, NULL, swapped(), e))                        \
  X(r4_swap_test, "weights", r4_swap_test(have.n, NULL, have.d, NULL, swapped(), e))                         \
  X(r4_swap_test, "data", r4_swap_test(have.n, have.room, NULL, NULL, swapped(), e))                         \
  X(r4_swap_test, "room for the result", r4_swap_test(have.n, have.room, have.d, NULL, NULL, e))             \
  X(r4_net_open, "a net", none(r4_net_open(NULL, R4_SHAPE(2), e), e))                                        \
  X(r4_net_preprocessed, "a net", none(r4_net_preprocessed(NULL, "x", "none", e), e))                        \
  X(r4_net_guide_at, "a net", r4_net_guide_at(NULL, "input", e))                                             \
  X(r4_net_guide_at, "a part", r4_net_guide_at(have.n, NULL, e))                                             \
  X(r4_net_load, "a net", r4_net_load(NULL, "x", NULL, have.room, NULL, e))                                  \
  X(r4_net_load, "a path", r4_net_load(have.n, NULL, NULL, have.room, NULL, e))                              \
  X(r4_net_load, "room for weights", r4_net_load(have.n, "x", NULL, NULL, NULL, e))                          \
  X(r4_net_init, "a net", r4_net_init(NULL, "xavier", 0, have.room, e))                                      \
  X(r4_net_init, "room for weights", r4_net_init(have.n, "xavier", 0, NULL, e))                              \
  X(r4_optimizer_new, "=options are missing", none(r4_optimizer_new(3, NULL, e), e))                         \
  X(r4_optimizer_restore, "an optimizer", r4_optimizer_restore(NULL, 1, have.room, 0, e))                    \
  X(r4_optimizer_restore, "a state", r4_optimizer_restore(have.o, 6, NULL, 0, e))                            \
  X(r4_optimizer_set_rate, "an optimizer", r4_optimizer_set_rate(NULL, .1, e))                               \
  X(r4_optimizer_set_ranges, "an optimizer", r4_optimizer_set_ranges(NULL, 0, NULL, e))                      \
  X(r4_optimizer_set_ranges, "ranges", r4_optimizer_set_ranges(have.o, 1, NULL, e))                          \
  X(r4_plan_input, "a plan", r4_plan_input(NULL, "x", have.room, e))                                         \
  X(r4_plan_input, "=an input has no name", r4_plan_input(have.p, NULL, have.room, e))                       \
  X(r4_plan_new, "=plan: no graph", none(r4_plan_new(NULL, 1, &have.y, NULL, e), e))                         \
  X(r4_plan_new, "=plan: no outputs", none(r4_plan_new(have.g, 1, NULL, NULL, e), e))                        \
  X(r4_plan_output, "a plan", r4_plan_output(NULL, 0, have.room, e))                                         \
  X(r4_plan_run, "a plan", r4_plan_run(NULL, e))                                                             \
  X(r4_pointing_game, "a method",                                                                            \
    r4_pointing_game(NULL, have.n, have.room, have.d, NULL, &(r4_pointing){0}, e))                           \
  X(r4_pointing_game, "a net",                                                                               \
    r4_pointing_game("gradient", NULL, have.room, have.d, NULL, &(r4_pointing){0}, e))                       \
  X(r4_pointing_game, "weights",                                                                             \
    r4_pointing_game("gradient", have.n, NULL, have.d, NULL, &(r4_pointing){0}, e))                          \
  X(r4_pointing_game, "data",                                                                                \
    r4_pointing_game("gradient", have.n, have.room, NULL, NULL, &(r4_pointing){0}, e))                       \
  X(r4_pointing_game, "room for the result",                                                                 \
    r4_pointing_game("gradient", have.n, have.room, have.d, NULL, NULL, e))                                  \
  X(r4_predict, "a net", r4_predict(NULL, have.room, have.d, 4, have.room, e))                               \
  X(r4_predict, "weights", r4_predict(have.n, NULL, have.d, 4, have.room, e))                                \
  X(r4_predict, "data", r4_predict(have.n, have.room, NULL, 4, have.room, e))                                \
  X(r4_predict, "room for the result", r4_predict(have.n, have.room, have.d, 4, NULL, e))                    \
  X(r4_report_write, "runs", r4_report_write(NULL, 1, have.d, NULL, have.path, e))                           \
  X(r4_report_write, "data", r4_report_write(&(r4_report_run){0}, 1, NULL, NULL, have.path, e))              \
  X(r4_report_write, "a file", r4_report_write(&(r4_report_run){0}, 1, have.d, NULL, NULL, e))               \
  X(r4_ablation_read, "a file", none(r4_ablation_read(NULL, e), e))                                          \
  X(r4_run_cost_read, "a folder", r4_run_cost_read(NULL, &(r4_run_cost){0}, e))                              \
  X(r4_run_cost_read, "room for the result", r4_run_cost_read(have.path, NULL, e))                           \
  X(r4_outcome_read, "a folder", r4_outcome_read(NULL, &(r4_outcome){0}, e))                                 \
  X(r4_outcome_read, "room for the result", r4_outcome_read(have.path, NULL, e))                             \
  X(r4_method_choose, "settings", r4_method_choose(NULL, have.d, NULL, e))                                   \
  X(r4_run_validation_read, "a folder", r4_run_validation_read(NULL, &(r4_run_validation){0}, e))            \
  X(r4_run_validation_read, "room for the result", r4_run_validation_read(have.path, NULL, e))               \
  X(r4_run_check_data, "a folder", r4_run_check_data(NULL, "0123", NULL, NULL, e))                                \
  X(r4_run_check_data, "a hash", r4_run_check_data(have.path, NULL, NULL, NULL, e))                             \
  X(r4_reach_find, "a reach", r4_reach_find(NULL, 1, 1, have.room, have.room, e))                            \
  X(r4_reach_find, "masks", r4_reach_find(have.r, 1, 1, NULL, have.room, e))                                 \
  X(r4_reach_find, "room for the places", r4_reach_find(have.r, 1, 1, have.room, NULL, e))                   \
  X(r4_reach_new, "a net", none(r4_reach_new(NULL, 0, NULL, false, e), e))                                   \
  X(r4_reach_new, "rectangles", none(r4_reach_new(have.n, 1, NULL, false, e), e))                            \
  X(r4_settings_check, "settings", r4_settings_check(NULL, e))                                               \
  X(r4_settings_shorten, "settings", r4_settings_shorten(NULL, .5, e))                                       \
  X(r4_settings_data, "settings", none(r4_settings_data(NULL, e), e))                                        \
  X(r4_run_data, "settings", none(r4_run_data(NULL, e), e))                                                  \
  X(r4_settings_texts, "settings", none(r4_settings_texts(NULL, have.path, 8, e), e))                        \
  X(r4_settings_texts, "a path", none(r4_settings_texts(have.s, NULL, 8, e), e))                             \
  X(r4_settings_get, "settings", r4_settings_get(NULL, "eps", &(r4_setting_value){0}, e))                    \
  X(r4_model_open, "a path", none(r4_model_open(NULL, NULL, e), e))                                          \
  X(r4_trainer_new, "settings", none(r4_trainer_new(NULL, have.d, e), e))                                    \
  X(r4_trainer_step, "a trainer", r4_trainer_step(NULL, NULL, e))                                            \
  X(r4_trainer_epoch, "a trainer", r4_trainer_epoch(NULL, NULL, e))                                          \
  X(r4_trainer_save, "a trainer", r4_trainer_save(NULL, have.path, e))                                       \
  X(r4_trainer_save, "a path", r4_trainer_save(have.t, NULL, e))                                             \
  X(r4_trainer_load, "a trainer", r4_trainer_load(NULL, have.path, e))                                       \
  X(r4_trainer_load, "a path", r4_trainer_load(have.t, NULL, e))                                             \
  X(r4_trainer_judge, "a trainer", r4_trainer_judge(NULL, &(r4_outcome){0}, e))                              \
  X(r4_trainer_judge, "room for the result", r4_trainer_judge(have.t, NULL, e))                              \
  X(r4_trainer_save_model, "a trainer", r4_trainer_save_model(NULL, have.path, e))                           \
  X(r4_trainer_save_model, "a path", r4_trainer_save_model(have.t, NULL, e))                                 \
  X(r4_settings_get, "a key", r4_settings_get(have.s, NULL, &(r4_setting_value){0}, e))                      \
  X(r4_settings_get, "room for the value", r4_settings_get(have.s, "eps", NULL, e))                          \
  X(r4_settings_locate, "settings", r4_settings_locate(NULL, have.path, NULL, e))                            \
  X(r4_settings_locate, "a folder", r4_settings_locate(have.s, NULL, NULL, e))                               \
  X(r4_settings_net, "settings", none(r4_settings_net(NULL, have.d, e), e))                                  \
  X(r4_settings_net, "data", none(r4_settings_net(have.s, NULL, e), e))                                      \
  X(r4_settings_read, "settings", r4_settings_read(NULL, have.path, e))                                      \
  X(r4_settings_read, "=no file is named", r4_settings_read(have.s, NULL, e))                                \
  X(r4_settings_save, "settings", r4_settings_save(NULL, have.path, e))                                      \
  X(r4_settings_save, "=no file is named", r4_settings_save(have.s, NULL, e))                                \
  X(r4_settings_set, "settings", r4_settings_set(NULL, "eps=1", "test", e))                                  \
  X(r4_settings_set, "an origin", r4_settings_set(have.s, "eps=1", NULL, e))                                 \
  X(r4_settings_set, "an assignment", r4_settings_set(have.s, NULL, "test", e))                              \
  X(r4_json_read_sealed, "a file", none(r4_json_read_sealed(NULL, e), e))                                    \
  X(r4_json_parse, "a name", none(r4_json_parse(NULL, "1", 1, e), e))                                        \
  X(r4_json_parse, "a text", none(r4_json_parse("x", NULL, 1, e), e))                                        \
  X(r4_photos_open, "a folder", none(r4_photos_open(NULL, e), e))                                            \
  X(r4_image_look, "a file", r4_image_look(NULL, 1, "x", &(r4_image){0}, e))                                 \
  X(r4_image_look, "a name", r4_image_look("x", 1, NULL, &(r4_image){0}, e))                                 \
  X(r4_image_look, "room for the size", r4_image_look("x", 1, "x", NULL, e))                                 \
  X(r4_image_read, "a file", r4_image_read(NULL, 1, "x", 1, &(r4_image){0}, e))                              \
  X(r4_image_read, "a name", r4_image_read("x", 1, NULL, 1, &(r4_image){0}, e))                              \
  X(r4_image_read, "room for the image", r4_image_read("x", 1, "x", 1, NULL, e))                             \
  X(r4_image_resize, "an image", r4_image_resize(NULL, 1, 1, &(r4_image){0}, e))                             \
  X(r4_image_resize, "room for the image", r4_image_resize(&(r4_image){0}, 1, 1, NULL, e))                   \
  X(r4_image_png, "an image", r4_image_png(NULL, &(uint8_t *){0}, &(size_t){0}, e))                          \
  X(r4_image_png, "room for the file", r4_image_png(&(r4_image){0}, NULL, &(size_t){0}, e))                  \
  X(r4_image_png, "room for its size", r4_image_png(&(r4_image){0}, &(uint8_t *){0}, NULL, e))               \
  X(r4_table_read, "a file", none(r4_table_read(NULL, e), e))                                                \
  X(r4_train, "settings", r4_train(NULL, &(r4_train_options){.folder = have.path}, NULL, e))                 \
  X(r4_train, "options", r4_train(have.s, NULL, NULL, e))                                                    \
  X(r4_train, "a folder", r4_train(have.s, &(r4_train_options){0}, NULL, e))

static const r4_heat_options heat;
static const r4_train_options somewhere = {.folder = "x"}, nowhere;
static const r4_measure_options pointing = {.batch = 40, .specificity = .95, .pointings = 1};
static const char *const one_text = "a", *const no_text[10];
static const r4_data_arrays nameless = {.n = 1, .shape = {1, {1}}, .floats = (const float[]){0},
                                        .labels = (const int32_t[]){0}, .classes = 1, .class_names = no_text};
static const float grey[1] = {0.5f};
static const r4_cover_options covered = {"edges:0.2", grey};
static r4_covered covers[40];
static const size_t one_span = 1;
static const r4_data_arrays labelled = {.n = 1, .labels = (const int32_t[]){0}};

/* Whatever comes back would be a success. */
static r4_status none(const void *object, r4_error *e)
{
  return object ? R4_OK : e ? e->status : R4_E_ARGUMENT;
}

static r4_metrics *metrics(void)
{
  static r4_metrics m;
  return &m;
}

static r4_measured *measured(void)
{
  static r4_measured m;
  return &m;
}

static r4_swapped *swapped(void)
{
  static r4_swapped p;
  return &p;
}

#define LINE(NAME, WHAT, CALL) {#NAME, WHAT},
#define CASE(NAME, WHAT, CALL) \
  case __COUNTER__ - FIRST:    \
    return CALL;

struct line {
  const char *function, *what;
};
static const struct line lines[] = {CALLS(LINE)};
enum { LINES = sizeof lines / sizeof *lines, FIRST = __COUNTER__ + 1 };

static r4_status call(size_t k, r4_error *e)
{
  switch (k) {
    CALLS(CASE)
  }
  return R4_OK;
}

static void check_line(void **state)
{
  size_t k = (size_t)((const struct line *)*state - lines);
  char expected[200];
  r4_error e = {0};
  if (*lines[k].what == '=')
    snprintf(expected, sizeof expected, "%s", lines[k].what + 1);
  else
    snprintf(expected, sizeof expected, "%s: needs %s, got NULL", lines[k].function, lines[k].what);
  assert_error(&e, call(k, &e), expected);
  assert_int_not_equal(call(k, NULL), R4_OK); /* nobody has to listen */
}

static bool in_table(const char *name, size_t n)
{
  for (size_t k = 0; k < LINES; k++)
    if (strlen(lines[k].function) == n && !strncmp(lines[k].function, name, n)) return true;
  return false;
}

static void look_for_functions_left_out(const char *file)
{
  uint8_t *header = NULL;
  size_t n = 0;
  assert_int_equal(file_read(file, 1 << 20, &header, &n, NULL), R4_OK);
  char *text = memcpy(malloc(n + 1), header, n), *rest = text;
  text[n] = 0;
  for (char *one; (one = strsep(&rest, ";"));) {
    char *name = strstr(one, "r4_error *e)") ? strrchr(one, '(') : NULL, *end = name;
    while (name && name > one && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
    bool pointer = name == end;
    if (!name || pointer || in_table(name, (size_t)(end - name)) || !strncmp(name, "r4_data_folder(", 15)) continue;
    fail_msg("%.*s takes an r4_error and is not in the table of this test", (int)(end - name), name);
  }
  free(text);
  r4_mem_free(header);
}

/* Every function of the headers that has an error to fill is in the table; one has nothing else that could be NULL. */
static void none_is_left_out(void **state)
{
  (void)state;
  look_for_functions_left_out("include/r4.h");
  look_for_functions_left_out("include/r4_tools.h");
}

static int start(void **state)
{
  if (scratch_make(state)) return -1;
  snprintf(have.path, sizeof have.path, "%s/file", scratch_folder());
  have.d = r4_data_open("digits:40", NULL, NULL);
  have.n = r4_net_open("flatten, dense 10", R4_SHAPE(28, 28, 1), NULL);
  have.r = r4_reach_new(have.n, 0, NULL, false, NULL);
  have.s = r4_settings_new();
  have.g = r4_graph_new();
  have.y = r4_relu(have.g, r4_input(have.g, "x", R4_SHAPE(4)));
  have.p = r4_plan_new(have.g, 1, &have.y, NULL, NULL);
  have.room = calloc(1 << 16, sizeof *have.room);
  have.m = r4_model_new(have.n, have.room, NULL, NULL);
  r4_optimizer_options adam = r4_optimizer_defaults(R4_ADAM);
  have.o = r4_optimizer_new(3, &adam, NULL);
  have.learn = r4_settings_new();
  r4_settings_set(have.learn, "net=flatten, dense 10", "test", NULL);
  have.t = r4_trainer_new(have.learn, have.d, NULL);
  have.f = r4_find_scan(have.d, NULL, NULL);
  return have.d && have.n && have.r && have.s && have.p && have.o && have.t ? 0 : -1;
}

static int end(void **state)
{
  r4_trainer_free(have.t);
  r4_found_free(have.f);
  r4_settings_free(have.learn);
  r4_optimizer_free(have.o);
  free(have.room);
  r4_plan_free(have.p);
  r4_graph_free(have.g);
  r4_settings_free(have.s);
  r4_reach_free(have.r);
  r4_model_free(have.m);
  r4_net_free(have.n);
  r4_data_free(have.d);
  return scratch_remove(state);
}

int main(void)
{
  static struct CMUnitTest tests[LINES + 1] = {[LINES] = cmocka_unit_test(none_is_left_out)};
  static char name[LINES][100];
  for (size_t k = 0; k < LINES; k++) {
    snprintf(name[k], sizeof name[k], "%s %s", lines[k].function, lines[k].what);
    tests[k] = (struct CMUnitTest){name[k], check_line, NULL, NULL, (void *)(uintptr_t)&lines[k]};
  }
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("null", tests, start, end);
}
