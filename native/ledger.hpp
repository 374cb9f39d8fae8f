// What has been read of each arm, the bets that were placed on it, and what has become of it.
//
// Arms are named by their position among the searched ones. Every arm is handled whole by one thread,
// so nothing here depends on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bets.hpp"
#include "matrix.hpp"
#include "order.hpp"
#include "team.hpp"

namespace sureshot {

// The undecided ones first.
enum Status : std::int8_t { active, suspended, dropped, known };

// What is known of the arms before anything is read. Arrays have one entry per arm.
struct Field {
    std::int64_t n_arms;
    const double* scale;         // score per sum of rewards
    const double* limit;         // of y
    const double* square_limit;  // of |row|^2, or null for range bets
    double centres;              // sum of the centres of all blocks
    double magnitude;            // sum of the absolute centres of all coordinates
    double weights;
    double rounding;             // share of the largest possible score that rounding errors stay below
    double floor;    // of the stakes, over the standard deviation
    bool estimated;  // the limit of y is not known, and raised as larger ones are met
    bool two_sided;
    bool both_signs;
};

// Data, read by the kernels.
struct Dense {
    Matrix matrix;
    Metric metric;
    const double* query;
    Blocks blocks;             // their size and shift
    const std::int64_t* arms;  // the row of each position
    std::int64_t item_size;
};

// What a round met. Positions are -1 where there is none.
struct Met {
    double largest = 0.0;       // |y|, or y if only that is limited
    std::int64_t broken = -1;   // the first arm with a block sum that is not a finite number
    std::int64_t outside = -1;  // the first arm beyond its limit
};

// The arms that seem best, and what the policy must know of the others.
struct Survey {
    double guess;                          // the k-th largest of exact scores and cautious estimates
    std::vector<std::int64_t> candidates;  // active, among the k largest scores and estimates
    std::int64_t others = 0;               // active arms that are not
    std::int64_t runner_up = -1;           // the best of those
};

// How some arms would get on.
struct Outlook {
    double needed = 0.0;  // steps until the bets against them win, on average, at most what is unread
    double unread = 0.0;  // steps
};

class Ledger {
 public:
    explicit Ledger(const Field& field);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    // Fixes what the steps [start, stop) are; no bet on them uses anything that is learnt later.
    void record(const Order& order, const double* centre, std::int64_t start, std::int64_t stop,
                double guess, bool stakes);

    // Reads the steps [start, stop) of some arms and bets on them.
    Met read(Team& team, const Dense& dense, const Order& order, const std::int64_t* positions,
             std::int64_t count, std::int64_t start, std::int64_t stop);
    // The same with block sums that somebody else has read: [step][arm].
    Met add(Team& team, const double* sums, const std::int64_t* positions, std::int64_t count,
            std::int64_t start, std::int64_t stop);

    Survey survey(std::int64_t k, double caution) const;
    // Looks at the other active arms again, some of which may have been beaten since.
    void look_again(Survey& survey) const;
    // Of the undecided arms.
    Outlook outlook(std::int64_t length, double theta, double log_level) const;
    // The step by which the bets are predicted to have won against that share of the active arms.
    double foretold_front(double share, double log_level) const;
    // Steps that each of the given arms will need until it is beaten, if it does not lie as close to the
    // threshold as it seems: to be spread by its error is part of what it is.
    std::vector<double> forecast(const std::int64_t* positions, std::int64_t count, std::int64_t length,
                                 double theta, double log_level) const;
    // The k-th largest of the exact scores and of the estimates, drawn towards their mean as far as errors
    // make them differ.
    double likely_threshold(std::int64_t k) const;

    // Gives the status to those of the given arms whose bets win at theta; returns how many. With a
    // survey, for a round: its candidates are spared, and so are arms that cannot have won yet.
    std::int64_t judge(Team& team, const std::int64_t* positions, std::int64_t count, double theta,
                       double log_level, std::int8_t verdict, const Survey* sparing);
    // A score that, unless the level's event happens, none of the given arms exceeds; at least `low`.
    double ceiling(Team& team, const std::int64_t* positions, std::int64_t count, double log_level,
                   double low) const;

    // A new limit of y for all arms, larger than the last one.
    void raise_limit(double limit);

    // Frees the memory of the bets; no arm can be read or judged after that.
    void forget_bets();

    // The positions of the arms that have the status, ascending.
    std::vector<std::int64_t> arms_with(std::int8_t wanted) const;

    std::vector<std::int8_t> status;
    std::vector<std::int64_t> steps;  // read of each arm
    std::vector<double> scores;       // exact, of the known arms
    std::vector<double> estimates;    // of the scores, from what was read
    std::vector<double> errors;       // their standard errors
    std::vector<double> high, low;    // high + low: the sum of what was read
    std::int64_t bytes() const;       // kept

 private:
    std::uint32_t reserve(std::int64_t groups);
    Group& group(std::uint32_t at) const;
    struct Portion;
    struct Shifts;

    // What a replay came to at the end of the last full group without reaching its level: one at the same
    // threshold, with no lower level, goes on from there.
    struct Past {
        double theta = 0.0;
        double log_level = 0.0;
        std::int64_t groups = 0;
        std::uint32_t last = 0;  // of the groups
        Wealth wealth;
        double log = 0.0;  // of the wealth, to the base 2
        std::int64_t earlier = 0;
        double earlier_log = 0.0;

        bool serves(double other_theta, double level) const {
            return theta == other_theta && log_level <= level;
        }
    };

    // The logarithm of a wealth, to the base 2, and what it was after fewer steps.
    struct Grown {
        double log;
        std::int64_t earlier;
        double earlier_log;
    };

    // The mean of an arm below what a threshold requires, and what bets can make of that.
    struct Gap {
        double distance, variance, error;
        double largest_stake;

        double growth() const;
        double closeness() const;
    };

    template <class Fill, class Fetch>
    Met bet(Team& team, const std::int64_t* positions, std::int64_t count, const Portion& portion,
            const Fill& fill, const Fetch& fetch_next);
    double largest_y(const Portion& portion, const double* sums, const std::int64_t* positions,
                     std::int64_t arms) const;
    void load(Tile& tile, const std::int64_t* positions, std::int64_t count, std::int64_t steps) const;
    void store(const Tile& tile, const std::int64_t* positions, std::int64_t count, Met& met);
    Shifts shifts(double theta) const;
    Grown log_wealth(std::int64_t position, const Shifts& at, double log_level,
                     std::vector<Past>* pasts) const;
    void fetch_bets(std::int64_t position, double theta, double log_level) const;
    Gap gap(std::size_t arm, double theta) const;
    double won_by(std::size_t arm, double log_level) const;
    double needed(std::size_t arm, double theta, double log_level, std::int64_t length, bool doubt) const;
    bool worth_judging(std::size_t arm, double wanted) const;
    double certain_limit(std::int64_t position) const;
    // The largest that the score of an arm can be, in absolute value, as a sum of rewards.
    double reach(std::size_t arm) const;
    // Whether there is a limit of y to bet with: before a reward is met, an estimated one is none.
    bool limited() const { return !estimated_ || limit_.front() > 0.0; }

    std::int64_t n_arms_, signs_;
    Terms terms_;
    double magnitude_, weights_, rounding_;
    bool estimated_;
    // Powers of two. The y of an arm are kept in units of its own: thresholds for it are in proportion to
    // its inverse scale, and mostly its y are, too.
    double unit_ = 1.0;
    std::vector<double> unit_of_scale_;
    std::vector<double> scale_, inverse_scale_, limit_;
    std::vector<double> sum_, sum_squares_, seen_;
    std::vector<std::int64_t> judged_;    // steps of each arm when it was judged last
    std::vector<double> wealth_;          // the logarithm of its wealth then, to the base 2
    std::vector<std::int64_t> earlier_;   // fewer steps than those
    std::vector<double> earlier_wealth_;  // the logarithm after them
    std::vector<Step> steps_;
    std::vector<double> left_;  // before each step, and after the last
    std::vector<double> rest_;  // the same of the centres
    double drawn_centres_ = 0.0, drawn_centres_low_ = 0.0;  // in twice the precision of double
    double largest_guess_ = 0.0;  // in absolute value
    bool unit_chosen_ = false;
    std::vector<double> tables_;  // of the block sums that each thread reads before it bets on them

    struct Free {
        void operator()(Group* slab) const noexcept;
    };
    std::vector<std::unique_ptr<Group, Free>> slabs_;
    std::vector<Group*> slab_of_;
    std::vector<std::uint32_t> next_;
    std::uint32_t used_ = 0;
    std::vector<std::uint32_t> first_, last_;  // [arm][sign]
    std::vector<Past> pasts_;                  // the same
};

}  // namespace sureshot
