#include "reading.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "compiler.hpp"
#include "isa.hpp"
#include "power_of_two.hpp"

namespace sureshot {
namespace {

// Arms and steps whose sums are read before they are bet on. Row by row: enough for memory to reach its full
// speed. Column by column: long pieces of each column, and as many columns as that leaves room for, but not
// so many that fresh memory must be cleared for few arms. Either table stays in the second-level cache.
constexpr std::int64_t arms_by_row = 4 * RunningSums::arms, steps_by_row = 256;
constexpr std::int64_t arms_by_column = 1024, sums_by_column = 32 * arms_by_column, steps_by_column = 256;
// To bet on a block takes about as long as to read so many numbers that follow each other, and so does a cache line that
// lies alone.
constexpr std::int64_t numbers_worth_a_bet = 16, numbers_worth_a_line = 128;
// Row by row: cache lines of the next arms that are asked for before bets are placed.
constexpr std::int64_t lines_between = 256;

// Places in the data at which arms are read to choose a unit: the first ones alone may be zero.
constexpr std::int64_t samples_for_unit = 4;

// Consecutive steps that are read together.
struct Batch {
    std::int64_t start, count;
    std::vector<std::int64_t> row_of;  // the row of the table with the sums of each step
    std::vector<std::int64_t> blocks;  // of each row, in address order; none for sums that are given
    std::vector<double> query;         // its values in these blocks
};

std::vector<Batch> batches_by_address(const ArmData& data, const Order& order, std::int64_t start, std::int64_t stop,
                                      std::int64_t most) {
    std::vector<Batch> found;
    for (std::int64_t at = start; at < stop; at += most) {
        Batch batch{at, std::min(most, stop - at), {}, {}, {}};
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
        const Blocks blocks{batch.blocks.data(), batch.count, data.blocks.size, data.blocks.shift};
        batch.query = values_in_blocks(data.query, data.matrix.n_columns, blocks);
        found.push_back(std::move(batch));
    }
    return found;
}

std::vector<Batch> batches_as_given(std::int64_t start, std::int64_t stop, std::int64_t most) {
    std::vector<Batch> found;
    for (std::int64_t at = start; at < stop; at += most) {
        Batch batch{at, std::min(most, stop - at), {}, {}, {}};
        batch.row_of.resize(static_cast<std::size_t>(batch.count));
        std::iota(batch.row_of.begin(), batch.row_of.end(), 0);
        found.push_back(std::move(batch));
    }
    return found;
}

// How a call is split: steps in batches, and how many arms at once.
struct Portion {
    std::int64_t start, stop;
    std::int64_t arms_at_once;
    std::int64_t grain;  // arms that one thread takes at least
    std::int64_t cost;   // of one arm, in numbers
    std::vector<Batch> batches;

    std::int64_t most_steps() const {
        std::int64_t most = 0;
        for (const Batch& batch : batches) most = std::max(most, batch.count);
        return most;
    }
};

// The block sums of some arms over a batch, and for norm bets their sums of squares: one row per block, one
// column per arm.
struct SumTable {
    double* sums;
    double* squares;  // or null
    std::int64_t stride;

    // Between the rows. Not a power of two, which would put them into the same few places of the first-level
    // cache; and bets are always placed on as many arms as running sums have, the last ones perhaps unused.
    static std::int64_t stride_for(std::int64_t arms) { return arms + RunningSums::arms + 8; }

    SumTable from_column(std::int64_t column) const {
        return {sums + column, squares == nullptr ? nullptr : squares + column, stride};
    }
};

void load(const Ledger& ledger, const std::int64_t* positions, std::int64_t arms, std::int64_t steps_read,
          RunningSums& running) {
    running.steps = steps_read;
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        // Unused places repeat the first arm, whose numbers are as good as any.
        const auto arm = static_cast<std::size_t>(positions[at < arms ? at : 0]);
        running.sum[at] = ledger.sum[arm];
        running.sum_squares[at] = ledger.sum_squares[arm];
        running.high[at] = ledger.high[arm];
        running.low[at] = ledger.low[arm];
        running.seen[at] = ledger.seen[arm];
        running.inverse_scale[at] = ledger.inverse_scale[arm];
        running.inverse_unit[at] = 1.0 / ledger.unit_of(arm);
        running.limit[at] = ledger.limit[arm];
        running.worst[at] = ledger.bet_rules.two_sided ? 0.0 : -infinite;
        if (!ledger.bet_rules.norms) continue;
        running.sum_u[at] = ledger.sum_u[arm];
        running.sum_u_squares[at] = ledger.sum_u_squares[arm];
        running.sum_u_y[at] = ledger.sum_u_y[arm];
    }
}

void store(Ledger& ledger, const std::int64_t* positions, std::int64_t arms, const RunningSums& running,
           Met& met) {
    double estimate[RunningSums::arms], error[RunningSums::arms];
    kernels().estimate(running, ledger.bet_rules, ledger.drawn.left(running.steps),
                       ledger.drawn.rest(running.steps), estimate, error);
    for (std::int64_t at = 0; at < arms; ++at) {
        const std::int64_t position = positions[at];
        const auto arm = static_cast<std::size_t>(position);
        ledger.sum[arm] = running.sum[at];
        ledger.sum_squares[arm] = running.sum_squares[at];
        ledger.high[arm] = running.high[at];
        ledger.low[arm] = running.low[at];
        ledger.seen[arm] = running.seen[at];
        if (ledger.bet_rules.norms) {
            ledger.sum_u[arm] = running.sum_u[at];
            ledger.sum_u_squares[arm] = running.sum_u_squares[at];
            ledger.sum_u_y[arm] = running.sum_u_y[at];
        }
        ledger.steps[arm] = running.steps;
        ledger.estimates[arm] = ledger.scale[arm] * estimate[at];
        ledger.errors[arm] = ledger.scale[arm] * error[at];
        const double reached = ledger.bet_rules.norms ? running.seen[at] : running.worst[at];
        const bool finite = std::isfinite(running.high[at]), inside = reached <= running.limit[at];
        if (!finite && met.broken < 0) met.broken = position;
        if (finite && !inside && !ledger.estimated && met.outside < 0) met.outside = position;
        met.largest = std::max(met.largest, running.worst[at]);
    }
}

// One call of read or add. A `Source` has two functions:
// fill(first, arms, batch, table) puts the sums of the arms [first, first + arms) over a batch into a table;
// fetch(first, arms) asks for what fill reads first of these arms, so that it arrives while bets are placed.
template <class Source>
class Round {
 public:
    Round(Ledger& ledger, const std::int64_t* positions, std::int64_t count, const Portion& portion,
          const Source& source)
        : ledger_(ledger),
          positions_(positions),
          count_(count),
          portion_(portion),
          source_(source),
          stride_(SumTable::stride_for(portion.arms_at_once)),
          table_size_(static_cast<std::size_t>(portion.most_steps() * stride_)),
          tables_(ledger.bet_rules.norms ? 2 : 1) {}

    Met read_and_bet(Team& team) {
        // All memory is allocated before the job, in which a lack of it could not be reported.
        const std::size_t room = static_cast<std::size_t>(team.threads()) * tables_ * table_size_;
        if (ledger_.tables.size() < room) ledger_.tables.resize(room);
        groups_before_ = groups_of(portion_.start);
        new_groups_ = groups_of(portion_.stop) - groups_before_;
        reserved_ = ledger_.bets.reserve(count_ * static_cast<std::int64_t>(ledger_.signs) * new_groups_);
        if (!ledger_.unit_chosen) choose_unit();
        Met met;
        std::mutex lock;
        team.run(count_, portion_.cost, [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
            const Met own = of_arms(team, begin, end, table_of(thread));
            const std::lock_guard guard(lock);
            met.add(own);
        }, portion_.grain);
        return met;
    }

 private:
    SumTable table_of(std::int64_t thread) {
        double* sums = ledger_.tables.data() + static_cast<std::size_t>(thread) * tables_ * table_size_;
        return {sums, tables_ == 2 ? sums + table_size_ : nullptr, stride_};
    }

    // Reads the arms [begin, end), some at a time, and bets on them.
    Met of_arms(Team& team, std::int64_t begin, std::int64_t end, const SumTable& table) {
        Met met;
        RunningSums running;
        Placed placed;
        for (std::int64_t some = begin; some < end; some += portion_.arms_at_once) {
            const std::int64_t arms = std::min(portion_.arms_at_once, end - some), next = some + arms;
            for (const Batch& batch : portion_.batches) {
                if (team.cancelled()) return met;
                source_.fill(some, arms, batch, table);
                if (&batch == &portion_.batches.back() && next < end) {
                    source_.fetch(next, std::min(portion_.arms_at_once, end - next));
                }
                for (std::int64_t at = 0; at < arms; at += RunningSums::arms) {
                    const std::int64_t few = std::min(RunningSums::arms, arms - at);
                    const std::int64_t* positions = positions_ + some + at;
                    load(ledger_, positions, few, batch.start, running);
                    bet_on(batch, some + at, few, table.from_column(at), running, placed);
                    store(ledger_, positions, few, running, met);
                }
            }
        }
        return met;
    }

    // Bets on a batch of a few arms, group by group: the first and the last may be parts of groups.
    void bet_on(const Batch& batch, std::int64_t first, std::int64_t arms, const SumTable& table,
                RunningSums& running, Placed& placed) {
        const auto signs = static_cast<std::int64_t>(ledger_.signs);
        const double* sums[steps_per_group];
        const double* squares[steps_per_group];
        Group* groups[2 * RunningSums::arms];
        for (std::int64_t s = 0; s < batch.count;) {
            const std::int64_t step = batch.start + s, slot = step % steps_per_group;
            const std::int64_t count = std::min(steps_per_group - slot, batch.count - s);
            for (std::int64_t at = 0; at < count; ++at) {
                const std::int64_t row = batch.row_of[static_cast<std::size_t>(s + at)] * table.stride;
                sums[at] = table.sums + row;
                squares[at] = table.squares == nullptr ? nullptr : table.squares + row;
            }
            kernels().place_bets(ledger_.drawn.data() + step, ledger_.bet_rules, sums, squares, count, slot,
                                 running, placed);
            if (slot == 0) append_groups(first, arms, step / steps_per_group);
            find_groups(first, arms, groups);
            kernels().keep_bets(placed, groups, arms, signs, slot, count);
            s += count;
        }
    }

    // Gives each stream of some arms its group of that number. All new groups of a stream lie together.
    void append_groups(std::int64_t first, std::int64_t arms, std::int64_t number) {
        for (std::int64_t at = first; at < first + arms; ++at) {
            const auto arm = static_cast<std::size_t>(positions_[at]);
            for (std::size_t sign = 0; sign < ledger_.signs; ++sign) {
                const std::size_t group =
                    ledger_.stream(static_cast<std::size_t>(at), sign) * static_cast<std::size_t>(new_groups_) +
                    static_cast<std::size_t>(number - groups_before_);
                ledger_.bets.append(ledger_.stream(arm, sign), number,
                                    reserved_ + static_cast<std::uint32_t>(group));
            }
        }
    }

    // The last group of each stream of some arms.
    void find_groups(std::int64_t first, std::int64_t arms, Group** groups) const {
        for (std::int64_t at = first; at < first + arms; ++at) {
            const auto arm = static_cast<std::size_t>(positions_[at]);
            for (std::size_t sign = 0; sign < ledger_.signs; ++sign) {
                *groups++ = &ledger_.bets.group(ledger_.bets.last(ledger_.stream(arm, sign)));
            }
        }
    }

    // Chooses the unit of what is kept by the largest |y| of arms from all over the data.
    void choose_unit() {
        const Batch& batch = portion_.batches.front();
        const SumTable table = table_of(0);
        const std::int64_t arms = std::min(count_, RunningSums::arms);
        double largest = 0.0;
        for (std::int64_t sample = 0; sample < samples_for_unit; ++sample) {
            const std::int64_t first = (count_ - arms) * sample / (samples_for_unit - 1);
            source_.fill(first, arms, batch, table);
            largest = std::max(largest, largest_y(batch, table, positions_ + first, arms));
        }
        ledger_.unit = power_of_two_near(largest);
        ledger_.unit_chosen = true;
    }

    // The largest |y| of some arms in a batch, in the units of their scales.
    double largest_y(const Batch& batch, const SumTable& table, const std::int64_t* positions,
                     std::int64_t arms) const {
        double largest = 0.0;
        for (std::int64_t s = 0; s < batch.count; ++s) {
            const Step& step = ledger_.drawn[batch.start + s];
            const double* row = table.sums + batch.row_of[static_cast<std::size_t>(s)] * table.stride;
            for (std::int64_t at = 0; at < arms; ++at) {
                const double unit = ledger_.unit_of_scale[static_cast<std::size_t>(positions[at])];
                largest = std::max(largest, std::fabs((row[at] - step.centre) / (step.weight * unit)));
            }
        }
        return largest;
    }

    Ledger& ledger_;
    const std::int64_t* positions_;
    std::int64_t count_;
    const Portion& portion_;
    const Source& source_;
    std::int64_t stride_;
    std::size_t table_size_;
    std::size_t tables_;  // of each thread
    std::int64_t groups_before_ = 0, new_groups_ = 0;  // of each stream
    std::uint32_t reserved_ = 0;                       // the first of the new groups
};

// Sums of dense data, made by the kernels.
struct DenseSums {
    const ArmData& data;
    const std::int64_t* positions;
    const Portion& portion;

    void fill(std::int64_t first, std::int64_t arms, const Batch& batch, const SumTable& table) const {
        std::int64_t rows[arms_by_column];
        for (std::int64_t at = 0; at < arms; ++at) rows[at] = data.arms[positions[first + at]];
        kernels().block_sums(data.matrix, data.metric, batch.query.data(), {rows, arms},
                             {batch.blocks.data(), batch.count, data.blocks.size, data.blocks.shift},
                             table.sums, table.stride, table.squares);
    }

    void fetch(std::int64_t first, std::int64_t arms) const {
        if (coordinate_major(data.matrix) || data.matrix.column_stride != 1) return;
        const Batch& batch = portion.batches.front();
        const auto* values = static_cast<const char*>(data.matrix.data);
        const std::int64_t bytes = size_of(data.matrix.element);
        std::int64_t lines = lines_between;
        for (std::int64_t at = 0; at < arms && lines > 0; ++at) {
            const std::int64_t row = data.arms[positions[first + at]] * data.matrix.row_stride;
            for (std::int64_t b = 0; b < batch.count && lines > 0; ++b, --lines) {
                const std::int64_t start =
                    batch.blocks[static_cast<std::size_t>(b)] * data.blocks.size - data.blocks.shift;
                fetch_ahead(values + (row + std::max<std::int64_t>(start, 0)) * bytes);
            }
        }
    }
};

// Sums that the caller has computed: [step][arm].
struct GivenSums {
    const double* sums;
    const double* squares;  // or null
    std::int64_t count;
    std::int64_t start;

    void fill(std::int64_t first, std::int64_t arms, const Batch& batch, const SumTable& table) const {
        for (std::int64_t s = 0; s < batch.count; ++s) {
            const std::int64_t row = (batch.start - start + s) * count + first;
            std::copy(sums + row, sums + row + arms, table.sums + s * table.stride);
            if (table.squares == nullptr) continue;
            std::copy(squares + row, squares + row + arms, table.squares + s * table.stride);
        }
    }

    void fetch(std::int64_t, std::int64_t) const {}
};

// What it costs to read a block of one of so many arms, in numbers. By column an arm shares its lines with others
// unless these are few.
std::int64_t cost_of_a_block(const ArmData& data, std::int64_t arms) {
    const std::int64_t numbers_in_a_line = 64 / size_of(data.matrix.element);
    if (!coordinate_major(data.matrix)) {
        return (data.blocks.size + numbers_in_a_line - 1) / numbers_in_a_line * numbers_worth_a_line;
    }
    const bool alone = arms * numbers_in_a_line <= data.matrix.n_rows;
    return data.blocks.size * (alone ? numbers_worth_a_line : 1);
}

}  // namespace

void Met::add(const Met& other) {
    const auto earlier = [](std::int64_t& first, std::int64_t position) {
        if (position >= 0 && (first < 0 || position < first)) first = position;
    };
    largest = std::max(largest, other.largest);
    earlier(broken, other.broken);
    earlier(outside, other.outside);
}

Met read(Ledger& ledger, Team& team, const ArmData& data, const Order& order, const std::int64_t* positions,
         std::int64_t count, std::int64_t start, std::int64_t stop) {
    const bool by_column = coordinate_major(data.matrix);
    const std::int64_t most_arms = by_column ? arms_by_column : arms_by_row;
    const std::int64_t whole = (count + RunningSums::arms - 1) / RunningSums::arms * RunningSums::arms;
    const std::int64_t together = std::min(most_arms, whole);
    const std::int64_t most_steps = by_column ? std::min(sums_by_column / together, steps_by_column) : steps_by_row;
    const Portion portion{start, stop, together, most_arms, (stop - start) * (cost_of_a_block(data, count) + numbers_worth_a_bet),
                          batches_by_address(data, order, start, stop, most_steps)};
    const DenseSums sums{data, positions, portion};
    return Round<DenseSums>(ledger, positions, count, portion, sums).read_and_bet(team);
}

Met add(Ledger& ledger, Team& team, const double* sums, const double* squares, const std::int64_t* positions,
        std::int64_t count, std::int64_t start, std::int64_t stop) {
    const Portion portion{start, stop, RunningSums::arms, RunningSums::arms, (stop - start) * (1 + numbers_worth_a_bet),
                          batches_as_given(start, stop, steps_by_row)};
    const GivenSums given{sums, squares, count, start};
    return Round<GivenSums>(ledger, positions, count, portion, given).read_and_bet(team);
}

Met read_on(Ledger& ledger, Team& team, const ArmData& data, Order& order, const double* centre, std::int64_t stop,
            double guess, bool stakes) {
    const std::int64_t start = ledger.drawn.count();
    order.draw(stop);
    ledger.record(order, centre, start, stop, guess, stakes);
    const auto arms = ledger.arms_with(active);
    return read(ledger, team, data, order, arms.data(), static_cast<std::int64_t>(arms.size()), start, stop);
}

}  // namespace sureshot
