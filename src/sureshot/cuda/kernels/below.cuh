// Whether a sum in float32 is surely below a threshold: one comparison for an arm of a query. Plain C++, also compiled for the
// host by the tests. What it lets pass is looked at in double precision; what is no number passes.

struct QueryTerms {                   // of a scaled query
    float threshold, half, scale;     // half: of |q|^2, for distances
    float near, count;                // how far its sums are off, for a row of norm 1, and of count 1
};
struct RowTerms {
    float times, plus;                // of the threshold; half of |v|^2, for distances
    float norm, count;
};

// BELOW_SLACK is more than all roundings here, each in proportion to the numbers that it comes from; `near` and `count` are raised
// for theirs (docs/theory.md, section 18).
ANYWHERE bool surely_below(float sum, const QueryTerms& q, const RowTerms& r) {
    const float goal = q.threshold * r.times, rest = r.plus * q.scale + q.half;
    const float error = q.near * r.norm + q.count * r.count;
    return sum + (error + (fabsf(goal) + rest) * BELOW_SLACK) < goal + rest;
}
