#include "ledger.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "isa.hpp"
#include "largest.hpp"
#include "slabs.hpp"

namespace sureshot {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr double pi = 3.14159265358979323846;

// C and SOFTENING of theory/wealth.py, as in bets.cpp.
constexpr double largest_loss = 0.99, softening = 1e-6;

// Stakes start at this step: FIRST_STAKE of theory/wealth.py.
constexpr std::int64_t first_stake = 4;

// More than the relative error of a few operations with floats, and more than the absolute error of those
// that come to less than a float can be.
constexpr double float_rounding = 0x1p-21;
constexpr double smallest_guard = 0x1p-120;

// An arm is judged again when its wealth is foretold to have this share of the logarithm that it needs.
constexpr double eagerness = 0.85;

// Bets on so many steps tell how wealth will grow; where it has grown by less than this, a logarithm to the
// base 2, that is chance as much as anything else.
constexpr std::int64_t telling_steps = 48;
constexpr double least_growth = 0.5;

// Arms and steps whose sums are read before they are bet on. Row by row: enough for memory to get into its
// stride. Column by column: long pieces of each column, and as many columns as that leaves room for. Either
// table stays in the second-level cache.
constexpr std::int64_t arms_by_row = 4 * Tile::arms, steps_by_row = 256;
constexpr std::int64_t lines_between = 256;  // asked for before bets are placed
constexpr std::int64_t arms_by_column = 1024, sums_by_column = 32 * arms_by_column;

// Tiles of arms that are looked at for a unit.
constexpr std::int64_t looks = 4;

std::int64_t groups_of(std::int64_t steps) { return (steps + steps_per_group - 1) / steps_per_group; }

// The largest power of two that is not above the value: it without its digits. 1 where that is no number.
double power_of_two_near(double value) {
    constexpr std::uint64_t exponent = 0x7ff0000000000000;
    const bool normal = value >= std::numeric_limits<double>::min() && value < infinite;
    return normal ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & exponent) : 1.0;
}

void fetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 0, 2);
#else
    (void)address;
#endif
}

// The steps of a portion that are read together, sorted by address.
struct Batch {
    std::int64_t start, count;
    std::vector<std::int64_t> blocks;  // ascending
    std::vector<std::int64_t> row_of;  // where the sums of each step are, in drawn order
};

std::vector<Batch> batches(const Order& order, std::int64_t start, std::int64_t stop, std::int64_t most) {
    std::vector<Batch> found;
    for (std::int64_t at = start; at < stop; at += most) {
        Batch batch{at, std::min(most, stop - at), {}, {}};
        const std::int64_t* drawn = order.blocks().data() + at;
        std::vector<std::int64_t> by_address(static_cast<std::size_t>(batch.count));
        std::iota(by_address.begin(), by_address.end(), 0);
        std::sort(by_address.begin(), by_address.end(),
                  [drawn](std::int64_t a, std::int64_t b) { return drawn[a] < drawn[b]; });
        batch.row_of.resize(by_address.size());
        for (std::size_t row = 0; row < by_address.size(); ++row) {
            batch.blocks.push_back(drawn[by_address[row]]);
            batch.row_of[static_cast<std::size_t>(by_address[row])] = static_cast<std::int64_t>(row);
        }
        found.push_back(std::move(batch));
    }
    return found;
}

}  // namespace

// What a thread reads and bets on: steps in batches, and how many arms at once.
struct Ledger::Portion {
    std::int64_t start, stop;
    std::int64_t arms_at_once;
    std::int64_t grain;  // arms that one thread takes at least
    std::int64_t cost;   // of one arm, in numbers
    std::vector<Batch> batches;

    // Between the rows of a table of sums: not a power of two, which would crowd them into a few places of
    // the first-level cache.
    std::int64_t stride() const { return arms_at_once + Tile::arms + 8; }
};

// What a replay at one threshold needs of each step, in groups.
struct Ledger::Shifts {
    double theta;
    std::vector<float> offset, inverse_left;
};

void Ledger::Free::operator()(Group* slab) const noexcept {
    give_back_slab(slab);
}

Ledger::Ledger(const Field& field)
    : status(static_cast<std::size_t>(field.n_arms), active),
      steps(status.size(), 0),
      scores(status.size(), -infinite),
      estimates(status.size(), 0.0),
      errors(status.size(), 0.0),
      high(status.size(), 0.0),
      low(status.size(), 0.0),
      n_arms_(field.n_arms),
      signs_(field.both_signs ? 2 : 1),
      terms_{field.floor, field.square_limit != nullptr, field.two_sided, field.both_signs},
      magnitude_(field.magnitude),
      weights_(field.weights),
      rounding_(field.rounding),
      estimated_(field.estimated),
      unit_of_scale_(status.size()),
      scale_(field.scale, field.scale + field.n_arms),
      inverse_scale_(status.size()),
      sum_(status.size(), 0.0),
      sum_squares_(status.size(), 0.0),
      seen_(status.size(), 0.0),
      judged_(status.size(), 0),
      wealth_(status.size(), 0.0),
      earlier_(status.size(), 0),
      earlier_wealth_(status.size(), 0.0),
      left_{field.weights},
      rest_{field.centres},
      first_(status.size() * static_cast<std::size_t>(signs_), 0),
      last_(first_.size(), 0),
      pasts_(first_.size()) {
    const double* limits = terms_.norms ? field.square_limit : field.limit;
    limit_.assign(limits, limits + n_arms_);
    std::transform(scale_.begin(), scale_.end(), inverse_scale_.begin(),
                   [](double scale) { return 1.0 / scale; });
    std::transform(inverse_scale_.begin(), inverse_scale_.end(), unit_of_scale_.begin(), power_of_two_near);
}

void Ledger::record(const Order& order, const double* centre, std::int64_t start, std::int64_t stop,
                    double guess, bool stakes) {
    const bool guessed = guess > -infinite;
    if (guessed) largest_guess_ = std::max(largest_guess_, std::fabs(guess));
    for (std::int64_t s = start; s < stop; ++s) {
        const auto block = order.blocks()[static_cast<std::size_t>(s)];
        const bool bets = stakes && guessed && s >= first_stake;
        steps_.push_back({centre[block], order.weight(block), order.left()[static_cast<std::size_t>(s)],
                          rest_.back(), guessed ? guess : 0.0, bets ? 1.0 : 0.0});
        const double sum = drawn_centres_ + centre[block];  // Knuth's exact addition
        const double part = sum - drawn_centres_;
        drawn_centres_low_ += (drawn_centres_ - (sum - part)) + (centre[block] - part);
        drawn_centres_ = sum;
        rest_.push_back((rest_.front() - drawn_centres_) - drawn_centres_low_);
    }
    left_.assign(order.left().begin(), order.left().begin() + stop + 1);
}

std::int64_t Ledger::bytes() const {
    return static_cast<std::int64_t>(used_) * static_cast<std::int64_t>(sizeof(Group));
}

// Makes room for groups that one call fills; returns the first.
std::uint32_t Ledger::reserve(std::int64_t groups) {
    const std::uint32_t first = used_;
    used_ += static_cast<std::uint32_t>(groups);
    next_.resize(used_);
    while ((slabs_.size() << Chains::slab_bits) < used_) {
        slabs_.emplace_back(take_slab());
        slab_of_.push_back(slabs_.back().get());
    }
    return first;
}

Group& Ledger::group(std::uint32_t at) const {
    constexpr std::uint32_t within_slab = (1u << Chains::slab_bits) - 1;
    return slab_of_[at >> Chains::slab_bits][at & within_slab];
}

// The largest |y| of some arms in the first batch, in the units of their scales.
double Ledger::largest_y(const Portion& portion, const double* sums, const std::int64_t* positions,
                         std::int64_t arms) const {
    const Batch& batch = portion.batches.front();
    double largest = 0.0;
    for (std::int64_t s = 0; s < batch.count; ++s) {
        const Step& step = steps_[static_cast<std::size_t>(batch.start + s)];
        const double* row = sums + batch.row_of[static_cast<std::size_t>(s)] * portion.stride();
        for (std::int64_t at = 0; at < arms; ++at) {
            const double unit = unit_of_scale_[static_cast<std::size_t>(positions[at])];
            largest = std::max(largest, std::fabs((row[at] - step.centre) / (step.weight * unit)));
        }
    }
    return largest;
}

void Ledger::load(Tile& tile, const std::int64_t* positions, std::int64_t count,
                  std::int64_t steps_read) const {
    tile.steps = steps_read;
    for (std::int64_t at = 0; at < Tile::arms; ++at) {
        // Unused places repeat the first arm: harmless numbers.
        const auto from = static_cast<std::size_t>(positions[at < count ? at : 0]);
        tile.sum[at] = sum_[from];
        tile.sum_squares[at] = sum_squares_[from];
        tile.high[at] = high[from];
        tile.low[at] = low[from];
        tile.seen[at] = seen_[from];
        tile.inverse_scale[at] = inverse_scale_[from];
        tile.unit[at] = unit_ * unit_of_scale_[from];
        tile.limit[at] = limit_[from];
        tile.worst[at] = terms_.two_sided ? 0.0 : -infinite;
    }
}

void Ledger::store(const Tile& tile, const std::int64_t* positions, std::int64_t count, Met& met) {
    double estimate[Tile::arms], error[Tile::arms];
    const auto front = static_cast<std::size_t>(tile.steps);
    kernels().estimate(tile, terms_, left_[front], rest_[front], estimate, error);
    for (std::int64_t at = 0; at < count; ++at) {
        const std::int64_t position = positions[at];
        const auto to = static_cast<std::size_t>(position);
        sum_[to] = tile.sum[at];
        sum_squares_[to] = tile.sum_squares[at];
        high[to] = tile.high[at];
        low[to] = tile.low[at];
        seen_[to] = tile.seen[at];
        steps[to] = tile.steps;
        estimates[to] = scale_[to] * estimate[at];
        errors[to] = scale_[to] * error[at];
        const bool finite = std::isfinite(tile.high[at]);
        const bool inside = terms_.norms ? tile.seen[at] <= tile.limit[at]
                                         : tile.worst[at] <= tile.limit[at];
        if (!finite && met.broken < 0) met.broken = position;
        if (finite && !inside && !estimated_ && met.outside < 0) met.outside = position;
        met.largest = std::max(met.largest, tile.worst[at]);
    }
}

// `fill(first, arms, batch, sums, squares)` puts the sums of some arms over the batch's blocks into the
// table, in address order, one row of `stride()` places per block.
// `fetch(first, arms)` asks for the first of what is read next, so that it arrives while bets are placed.
template <class Fill, class Fetch>
Met Ledger::bet(Team& team, const std::int64_t* positions, std::int64_t count, const Portion& portion,
                const Fill& fill, const Fetch& fetch_next) {
    const std::int64_t groups_before = groups_of(portion.start);
    const std::int64_t new_groups = groups_of(portion.stop) - groups_before;
    const std::uint32_t base = reserve(count * signs_ * new_groups);
    std::size_t most_steps = 0;
    for (const Batch& batch : portion.batches) {
        most_steps = std::max(most_steps, static_cast<std::size_t>(batch.count));
    }
    // Before the job, in which a lack of memory could not be reported.
    const std::size_t room = most_steps * static_cast<std::size_t>(portion.stride());
    const std::size_t rooms = static_cast<std::size_t>(team.threads()) * (terms_.norms ? 2 : 1);
    if (tables_.size() < rooms * room) tables_.resize(rooms * room);
    const auto table = [&](std::int64_t thread, int which) {
        const std::size_t at = static_cast<std::size_t>(thread) * (terms_.norms ? 2 : 1);
        return tables_.data() + (at + static_cast<std::size_t>(which)) * room;
    };
    if (!unit_chosen_) {
        double* sums = table(0, 0);
        double* squares = terms_.norms ? table(0, 1) : nullptr;
        // From arms all over the data: the first ones may be zero.
        const std::int64_t few = std::min(count, Tile::arms);
        double largest = 0.0;
        for (std::int64_t look = 0; look < looks; ++look) {
            const std::int64_t first = (count - few) * look / (looks - 1);
            fill(first, few, portion.batches.front(), sums, squares);
            largest = std::max(largest, largest_y(portion, sums, positions + first, few));
        }
        unit_ = power_of_two_near(largest);
        unit_chosen_ = true;
    }

    Met met;
    std::mutex met_lock;
    team.run(count, portion.cost, [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
        double* sums = table(thread, 0);
        double* squares = terms_.norms ? table(thread, 1) : nullptr;
        Placed placed;
        Tile tile;
        Met mine;
        std::uint32_t chain[2 * Tile::arms];
        for (std::int64_t some = begin; some < end; some += portion.arms_at_once) {
            const std::int64_t some_end = std::min(some + portion.arms_at_once, end);
            for (const Batch& batch : portion.batches) {
                if (team.cancelled()) return;
                fill(some, some_end - some, batch, sums, squares);
                if (&batch == &portion.batches.back() && some_end < end) {
                    fetch_next(some_end, std::min(portion.arms_at_once, end - some_end));
                }
                for (std::int64_t first = some; first < some_end; first += Tile::arms) {
                    const std::int64_t arms = std::min(Tile::arms, some_end - first);
                    load(tile, positions + first, arms, batch.start);
                    for (std::int64_t s = 0; s < batch.count;) {
                        const std::int64_t step = batch.start + s;
                        const std::int64_t slot = step % steps_per_group;
                        const std::int64_t here = std::min(steps_per_group - slot, batch.count - s);
                        const double* rows[steps_per_group];
                        const double* square_rows[steps_per_group];
                        for (std::int64_t h = 0; h < here; ++h) {
                            const std::int64_t at =
                                batch.row_of[static_cast<std::size_t>(s + h)] * portion.stride() +
                                (first - some);
                            rows[h] = sums + at;
                            square_rows[h] = squares == nullptr ? nullptr : squares + at;
                        }
                        kernels().place_bets(steps_.data() + step, terms_, rows, square_rows, here, slot,
                                             tile, placed);
                        const std::int64_t number = step / steps_per_group;
                        for (std::int64_t at = 0; at < arms * signs_; ++at) {
                            const std::int64_t stream = (first + at / signs_) * signs_ + at % signs_;
                            const auto end_of = static_cast<std::size_t>(
                                positions[first + at / signs_] * signs_ + at % signs_);
                            if (number < groups_before) {
                                chain[at] = last_[end_of];
                                continue;
                            }
                            const auto fresh = base + static_cast<std::uint32_t>(
                                                          stream * new_groups + number - groups_before);
                            if (slot == 0) {
                                if (number == 0) first_[end_of] = fresh;
                                if (number > 0) next_[last_[end_of]] = fresh;
                                last_[end_of] = fresh;
                            }
                            chain[at] = fresh;
                        }
                        Group* groups[2 * Tile::arms];
                        for (std::int64_t at = 0; at < arms * signs_; ++at) groups[at] = &group(chain[at]);
                        kernels().keep_bets(placed, groups, arms, signs_, slot, here);
                        s += here;
                    }
                    store(tile, positions + first, arms, mine);
                }
            }
        }
        const std::lock_guard lock(met_lock);
        met.largest = std::max(met.largest, mine.largest);
        const auto earlier = [](std::int64_t& first, std::int64_t other) {
            if (other >= 0 && (first < 0 || other < first)) first = other;
        };
        earlier(met.broken, mine.broken);
        earlier(met.outside, mine.outside);
    }, portion.grain);
    return met;
}

Met Ledger::read(Team& team, const Dense& dense, const Order& order, const std::int64_t* positions,
                 std::int64_t count, std::int64_t start, std::int64_t stop) {
    const bool by_column = coordinate_major(dense.matrix);
    const std::int64_t tiles = (count + Tile::arms - 1) / Tile::arms;
    const std::int64_t together = std::min(by_column ? arms_by_column : arms_by_row, tiles * Tile::arms);
    const Portion portion{start, stop, together, by_column ? arms_by_column : arms_by_row,
                          (stop - start) * dense.blocks.size,
                          batches(order, start, stop,
                                  by_column ? sums_by_column / together : steps_by_row)};
    return bet(team, positions, count, portion,
               [&](std::int64_t first, std::int64_t arms, const Batch& batch, double* sums,
                   double* squares) {
                   std::int64_t rows[arms_by_column];
                   for (std::int64_t at = 0; at < arms; ++at) rows[at] = dense.arms[positions[first + at]];
                   kernels().block_sums(dense.matrix, dense.metric, dense.query, {rows, arms},
                                        {batch.blocks.data(), batch.count, dense.blocks.size,
                                         dense.blocks.shift},
                                        sums,
                                        portion.stride(), squares);
               },
               [&](std::int64_t first, std::int64_t arms) {
                   if (by_column || dense.matrix.column_stride != 1) return;
                   const Batch& batch = portion.batches.front();
                   const auto* data = static_cast<const char*>(dense.matrix.data);
                   std::int64_t lines = lines_between;
                   for (std::int64_t at = 0; at < arms && lines > 0; ++at) {
                       const std::int64_t row = dense.arms[positions[first + at]] * dense.matrix.row_stride;
                       for (std::int64_t b = 0; b < batch.count && lines > 0; ++b, --lines) {
                           const std::int64_t start =
                               batch.blocks[static_cast<std::size_t>(b)] * dense.blocks.size -
                               dense.blocks.shift;
                           fetch(data + (row + std::max<std::int64_t>(start, 0)) * dense.item_size);
                       }
                   }
               });
}

Met Ledger::add(Team& team, const double* sums, const std::int64_t* positions, std::int64_t count,
                std::int64_t start, std::int64_t stop) {
    Portion portion{start, stop, Tile::arms, Tile::arms, stop - start, {}};
    for (std::int64_t at = start; at < stop; at += steps_by_row) {
        Batch batch{at, std::min(steps_by_row, stop - at), {}, {}};
        batch.row_of.resize(static_cast<std::size_t>(batch.count));
        std::iota(batch.row_of.begin(), batch.row_of.end(), 0);
        portion.batches.push_back(std::move(batch));
    }
    return bet(team, positions, count, portion,
               [&](std::int64_t first, std::int64_t arms, const Batch& batch, double* table, double*) {
                   for (std::int64_t s = 0; s < batch.count; ++s) {
                       const double* row = sums + (batch.start - start + s) * count + first;
                       std::copy(row, row + arms, table + s * portion.stride());
                   }
               },
               [](std::int64_t, std::int64_t) {});
}

void Ledger::forget_bets() {
    slabs_.clear();
    slab_of_.clear();
    next_ = {};
    tables_ = {};
    used_ = 0;
}

std::vector<std::int64_t> Ledger::arms_with(std::int8_t wanted) const {
    std::vector<std::int64_t> found;
    found.reserve(status.size());
    for (std::size_t at = 0; at < status.size(); ++at) {
        if (status[at] == wanted) found.push_back(static_cast<std::int64_t>(at));
    }
    return found;
}

Survey Ledger::survey(std::int64_t k, double caution) const {
    Largest cautious(k), plain(k);
    for (std::size_t at = 0; at < status.size(); ++at) {
        const auto position = static_cast<std::int64_t>(at);
        if (status[at] == active) {
            cautious.show(estimates[at] - caution * errors[at], position);
            plain.show(estimates[at], position);
        } else if (status[at] == known) {
            cautious.show(scores[at], position);
            plain.show(scores[at], position);
        }
    }
    Survey found{cautious.last(), {}, 0, -1};
    for (const std::int64_t position : plain.keys()) {
        if (status[static_cast<std::size_t>(position)] == active) found.candidates.push_back(position);
    }
    look_again(found);
    return found;
}

void Ledger::look_again(Survey& survey) const {
    survey.others = 0;
    survey.runner_up = -1;
    auto candidate = survey.candidates.begin();
    double best = -infinite;
    for (std::size_t at = 0; at < status.size(); ++at) {
        if (status[at] != active) continue;
        const auto position = static_cast<std::int64_t>(at);
        if (candidate != survey.candidates.end() && *candidate == position) {
            ++candidate;
            continue;
        }
        ++survey.others;
        if (survey.runner_up < 0 || estimates[at] > best) {
            best = estimates[at];
            survey.runner_up = position;
        }
    }
}

// How far the arm seems to lie below theta, in the units of y.
Ledger::Gap Ledger::gap(std::size_t arm, double theta) const {
    const auto count = static_cast<double>(steps[arm]);
    const double left = left_[static_cast<std::size_t>(steps[arm])];
    const double known = rest_[static_cast<std::size_t>(steps[arm])] + (high[arm] + low[arm]);
    const double mean = sum_[arm] / count, second = sum_squares_[arm] / count;
    const double sign = signs_ == 2 && known + mean * left < 0.0 ? -1.0 : 1.0;
    const double required = (theta * inverse_scale_[arm] - sign * known) / left;
    // As the bets have it: an arm that has been constant so far may not stay so.
    const double variance = std::max(second - mean * mean, 0.0) + softening * second / count;
    // Norm bets choose their cap so that it does not matter.
    const double room = limit_[arm] - required;
    const double largest_stake = terms_.norms || room <= 0.0 ? infinite : largest_loss / room;
    return {required - sign * mean, variance, std::sqrt(variance / count), largest_stake};
}

// With d the distance of the means and v the variance, the log wealth grows by stake d - stake^2 (v + d^2) / 2
// a step. An arm that seems to lie at the threshold is a standard error or so away from it.
double Ledger::Gap::growth() const {
    const double positive = std::max(distance, 0.0);
    const double d = std::sqrt(positive * positive + error * error);
    const double square = variance + d * d;
    if (!(square > 0.0)) return 0.0;
    const double stake = std::min(d / square, largest_stake);
    return stake * (d - stake * square / 2.0);
}

// The density at distance 0, in standard errors, of where the arm may be if it is not above.
double Ledger::Gap::closeness() const {
    if (!(error > 0.0)) return distance > 0.0 ? 0.0 : infinite;
    const double z = distance / error;
    if (z < -30.0) return -z;  // what the quotient tends to
    if (z > 4.0) return 0.0;   // most arms: below 2e-4
    return std::sqrt(2.0 / pi) * std::exp(-z * z / 2.0) / std::erfc(-z / std::sqrt(2.0));
}

// The step by which the bets win if wealth goes on to grow as it did of late; 0 if there is no telling.
double Ledger::won_by(std::size_t arm, double log_level) const {
    if (judged_[arm] < telling_steps) return 0.0;
    const double grown = std::max(wealth_[arm] - earlier_wealth_[arm], least_growth) * std::log(2.0);
    const double missing = log_level - wealth_[arm] * std::log(2.0);
    return static_cast<double>(judged_[arm]) + missing / grown * static_cast<double>(judged_[arm] - earlier_[arm]);
}

// The slower one of what the estimate promises and of how the wealth has grown.
double Ledger::needed(std::size_t arm, double theta, double log_level, std::int64_t length, bool doubt) const {
    const auto unread = static_cast<double>(length - steps[arm]);
    if (steps[arm] == 0 || unread <= 0.0 || !limited()) return unread;
    const auto count = static_cast<double>(steps[arm]);
    const Gap its = gap(arm, theta);
    const double missing = log_level - wealth_[arm] * std::log(2.0);
    double total = static_cast<double>(judged_[arm]) + missing / its.growth();
    total = std::max(total, won_by(arm, log_level));
    double more = std::max(total - count, 0.0);
    // An arm at a distance of x standard errors needs 2 missing count / x^2 steps, at most what is unread: a
    // few that lie very close need more than all others together.
    if (doubt) more += 2.0 * std::sqrt(2.0 * missing * count * unread) * its.closeness();
    return more < unread ? more : unread;  // what is no number is no promise either
}

Outlook Ledger::outlook(std::int64_t length, double theta, double log_level) const {
    Outlook found;
    for (std::size_t arm = 0; arm < status.size(); ++arm) {
        if (status[arm] > suspended) continue;
        found.needed += needed(arm, theta, log_level, length, true);
        found.unread += static_cast<double>(length - steps[arm]);
    }
    return found;
}

double Ledger::foretold_front(double share, double log_level) const {
    std::vector<double> fronts;
    for (std::size_t arm = 0; arm < status.size(); ++arm) {
        if (status[arm] == active) fronts.push_back(won_by(arm, log_level));
    }
    if (fronts.empty()) return 0.0;
    const auto at = fronts.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(fronts.size()));
    std::nth_element(fronts.begin(), at, fronts.end());
    return *at;
}

std::vector<double> Ledger::forecast(const std::int64_t* positions, std::int64_t count,
                                     std::int64_t length, double theta, double log_level) const {
    std::vector<double> found;
    for (std::int64_t p = 0; p < count; ++p) {
        const auto arm = static_cast<std::size_t>(positions[p]);
        found.push_back(needed(arm, theta, log_level, length, false));
    }
    return found;
}

double Ledger::likely_threshold(std::int64_t k) const {
    // Times a power of two, so that squares stay within the range of double.
    double largest = 0.0;
    for (std::size_t arm = 0; arm < status.size(); ++arm) {
        largest = std::max({largest, std::fabs(estimates[arm]), errors[arm]});
    }
    const double unit = 1.0 / power_of_two_near(largest);
    const auto number = static_cast<double>(status.size());
    double sum = 0.0, noise = 0.0, scatter = 0.0;
    for (const double estimate : estimates) sum += unit * estimate;
    const double mean = sum / number;
    for (std::size_t arm = 0; arm < status.size(); ++arm) {
        const double error = unit * errors[arm], off = unit * estimates[arm] - mean;
        noise += error * error;
        scatter += off * off;
    }
    // Of the scores, from which estimates are off by their errors.
    const double spread = std::max(scatter - noise, 0.0) / number;
    Largest best(k);
    for (std::size_t arm = 0; arm < status.size(); ++arm) {
        const auto position = static_cast<std::int64_t>(arm);
        if (status[arm] == known) {
            best.show(scores[arm], position);
        } else if (status[arm] < known) {
            const double error = unit * errors[arm], off = unit * estimates[arm] - mean;
            const double share = spread > 0.0 ? spread / (spread + error * error) : 0.0;
            best.show((mean + share * off) / unit, position);
        }
    }
    return best.last();
}

Ledger::Shifts Ledger::shifts(double theta) const {
    Shifts found{theta, {}, {}};
    const auto padded = static_cast<std::size_t>(groups_of(static_cast<std::int64_t>(steps_.size())) *
                                                 steps_per_group);
    found.offset.resize(padded, 0.0f);
    found.inverse_left.resize(padded, 0.0f);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
        const Step& step = steps_[s];
        const double offset = (theta - step.guess) / (step.left * unit_);
        const double lower = offset - float_rounding * std::fabs(offset);
        found.offset[s] = static_cast<float>(std::min(lower, 1e30));
        found.inverse_left[s] = static_cast<float>(weights_ / step.left * (1.0 + float_rounding));
    }
    return found;
}

// The log wealth of the bets against an arm, the smaller of both signs; infinite if they win.
Ledger::Grown Ledger::log_wealth(std::int64_t position, const Shifts& at, double log_level,
                          std::vector<Past>* pasts) const {
    const auto arm = static_cast<std::size_t>(position);
    if (steps[arm] == 0) return {-infinite, 0, 0.0};
    const double inverse_scale = inverse_scale_[arm] / unit_of_scale_[arm];
    const double raw = (std::fabs(at.theta) + largest_guess_) * inverse_scale_[arm];
    const double unit = unit_ * unit_of_scale_[arm];
    const double guard =
        std::max(rounding_ * (magnitude_ + reach(arm) + raw) / (weights_ * unit), smallest_guard);
    const double level = std::exp(log_level) * (1.0 + float_rounding * static_cast<double>(steps[arm]));
    const Chains chains{slab_of_.data(), next_.data()};
    // Replays the groups [from, to), of which `first` is the first one.
    const auto replay = [&](std::uint32_t first, std::int64_t from, std::int64_t to, Wealth& wealth,
                            std::uint32_t& last) {
        const Replay one{at.offset.data() + from * steps_per_group,
                         at.inverse_left.data() + from * steps_per_group,
                         static_cast<float>(inverse_scale),
                         static_cast<float>(guard * (1.0 + float_rounding)), level};
        return kernels().log_wealth(chains, first, to - from, one, wealth, last);
    };
    const std::int64_t groups = groups_of(steps[arm]), full = steps[arm] / steps_per_group;
    Grown least{infinite, 0, 0.0};
    for (std::size_t sign = 0; sign < static_cast<std::size_t>(signs_); ++sign) {
        const std::size_t stream = arm * static_cast<std::size_t>(signs_) + sign;
        Past past;
        if (pasts != nullptr && (*pasts)[stream].serves(at.theta, log_level)) past = (*pasts)[stream];
        past.theta = at.theta;
        past.log_level = log_level;
        const auto replay_to = [&](std::int64_t stop) {
            const std::uint32_t first = past.groups == 0 ? first_[stream] : next_[past.last];
            past.log = replay(first, past.groups, stop, past.wealth, past.last);
            past.groups = stop;
        };
        // Growth is told from the second half of the steps, or from what was added to the last replay.
        if (past.groups == 0) replay_to(full / 2);
        if (4 * past.groups <= 3 * full) {
            past.earlier = past.groups * steps_per_group;
            past.earlier_log = past.log;
        }
        if (past.log < infinite) replay_to(full);
        double found = past.log;
        if (found < infinite && groups > full) {
            // The last group is not full yet: it is replayed again next time.
            Wealth wealth = past.wealth;
            std::uint32_t last = past.last;
            found = replay(full == 0 ? first_[stream] : next_[past.last], full, groups, wealth, last);
        }
        if (pasts != nullptr) (*pasts)[stream] = found < infinite ? past : Past{};
        if (found < least.log) least = {found, past.earlier, past.earlier_log};
    }
    return least;
}

// Asks for the bets of an arm before they are needed: they lie scattered, round by round.
void Ledger::fetch_bets(std::int64_t position, double theta, double log_level) const {
    const auto arm = static_cast<std::size_t>(position);
    const std::int64_t groups = groups_of(steps[arm]);
    for (std::size_t sign = 0; sign < static_cast<std::size_t>(signs_); ++sign) {
        const std::size_t stream = arm * static_cast<std::size_t>(signs_) + sign;
        const Past& past = pasts_[stream];
        const bool anew = !past.serves(theta, log_level) || past.groups == 0;
        std::int64_t g = anew ? 0 : past.groups;
        if (g >= groups) continue;
        for (std::uint32_t at = anew ? first_[stream] : next_[past.last];; at = next_[at]) {
            fetch(&group(at));
            fetch(group(at).terms);
            if (++g == groups) break;
        }
    }
}

// Wealth grows exponentially, so when it will be enough can be foretold.
bool Ledger::worth_judging(std::size_t arm, double wanted) const {
    const double share = std::clamp(eagerness * wanted / std::max(wealth_[arm], 1e-3), 1.0, 2.0);
    return static_cast<double>(steps[arm]) >= share * static_cast<double>(judged_[arm]);
}

std::int64_t Ledger::judge(Team& team, const std::int64_t* positions, std::int64_t count, double theta,
                           double log_level, std::int8_t verdict, const Survey* sparing) {
    if (!limited()) return 0;  // No verdict before there is anything to stand on.
    const double wanted = log_level / std::log(2.0);
    std::vector<std::int64_t> accused;
    accused.reserve(static_cast<std::size_t>(count));
    for (std::int64_t p = 0; p < count; ++p) {
        const auto arm = static_cast<std::size_t>(positions[p]);
        if (sparing != nullptr) {
            if (!worth_judging(arm, wanted)) continue;
            const auto& spared = sparing->candidates;
            if (std::binary_search(spared.begin(), spared.end(), positions[p])) continue;
        }
        accused.push_back(positions[p]);
    }
    const Shifts at = shifts(theta);
    std::atomic<std::int64_t> judged{0};
    const auto front = static_cast<std::int64_t>(steps_.size());
    const auto number = static_cast<std::int64_t>(accused.size());
    team.run(number, 2 * front, [&](std::int64_t begin, std::int64_t end) noexcept {
        std::int64_t mine = 0;
        for (std::int64_t p = begin; p < end; ++p) {
            const std::int64_t position = accused[static_cast<std::size_t>(p)];
            if (p + 1 < end) fetch_bets(accused[static_cast<std::size_t>(p + 1)], theta, log_level);
            const Grown found = log_wealth(position, at, log_level, &pasts_);
            const auto arm = static_cast<std::size_t>(position);
            if (found.log == infinite) {
                status[arm] = verdict;
                ++mine;
            } else {
                judged_[arm] = steps[arm];
                wealth_[arm] = found.log;
                earlier_[arm] = found.earlier;
                earlier_wealth_[arm] = found.earlier_log;
            }
        }
        judged += mine;
    });
    return judged;
}

double Ledger::reach(std::size_t arm) const {
    return terms_.norms ? std::sqrt(weights_ * limit_[arm]) : weights_ * std::fabs(limit_[arm]);
}

double Ledger::certain_limit(std::int64_t position) const {
    const auto arm = static_cast<std::size_t>(position);
    const auto front = static_cast<std::size_t>(steps[arm]);
    const double ahead = terms_.norms ? std::sqrt(left_[front] * std::max(limit_[arm] - seen_[arm], 0.0))
                                      : left_[front] * limit_[arm];
    const double so_far = rest_[front] + (high[arm] + low[arm]);
    const double guard = rounding_ * (magnitude_ + std::fabs(so_far) + reach(arm));
    return scale_[arm] * ((signs_ == 2 ? std::fabs(so_far) : so_far) + ahead + guard);
}

double Ledger::ceiling(Team& team, const std::int64_t* positions, std::int64_t count, double log_level,
                       double low) const {
    double high_end = low;
    for (std::int64_t p = 0; p < count; ++p) high_end = std::max(high_end, certain_limit(positions[p]));
    if (!std::isfinite(high_end) || !limited()) return infinite;
    for (int halving = 0; halving < 60 && high_end > low; ++halving) {
        const double middle = low + (high_end - low) / 2;
        const Shifts at = shifts(middle);
        std::atomic<bool> all{true};
        team.run(count, 2 * static_cast<std::int64_t>(steps_.size()),
                 [&](std::int64_t begin, std::int64_t end) noexcept {
                     for (std::int64_t p = begin; p < end && all; ++p) {
                         if (log_wealth(positions[p], at, log_level, nullptr).log < infinite) all = false;
                     }
                 });
        (all ? high_end : low) = middle;
    }
    return high_end;
}

void Ledger::raise_limit(double limit) {
    const double by = limit - limit_.front();
    for (std::size_t arm = 0; arm < steps.size(); ++arm) {
        const double in_its_unit = by / (unit_ * unit_of_scale_[arm]);
        for (std::size_t sign = 0; sign < static_cast<std::size_t>(signs_); ++sign) {
            std::uint32_t at = first_[arm * static_cast<std::size_t>(signs_) + sign];
            for (std::int64_t left = groups_of(steps[arm]); left > 0; --left, at = next_[at]) {
                kernels().raise_rooms(group(at), in_its_unit);
            }
        }
    }
    std::fill(limit_.begin(), limit_.end(), limit);
    std::fill(pasts_.begin(), pasts_.end(), Past{});
}

}  // namespace sureshot
