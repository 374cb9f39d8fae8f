// The bet of one step, from what was read before it (docs/theory.md, sections 5 and 16). Plain C++ without fused
// operations, which the tests compile for the host, too. Every operation rounds to nearest.

struct Sums {                         // of the steps before
    float x, y, yy, mass, u;
};
struct Bet {
    float factor;
    bool certain;
};

ANYWHERE float variance_of(int step, float mean, float second, float inverse_less) {
    const float scatter = fmaxf(second - mean * mean, 0.0f) * (float)step;
    return (scatter + SMALL_VARIANCE * second) * inverse_less + TINY;
}

// y, u: of this step. inverse, inverse_less: of the number of steps before it, and of one less.
ANYWHERE Bet bet(int step, float theta, float square, const Sums& before, float y, float u, float inverse_left,
                 float inverse, float inverse_less) {
    Bet out;
    out.factor = 1.0f;
    const float mean = before.y * inverse, second = before.yy * inverse;
    const float needed = (theta - before.x) * inverse_left;
    const float rest = fmaxf(square - before.mass, 0.0f) * inverse_left;
    const float root = sqrtf(rest);
    out.certain = needed > root;
    const float distance = needed - mean;
    if (step < FIRST_BET || !(distance > 0.0f) || out.certain) return out;
    const float variance = variance_of(step, mean, second, inverse_less);
    const float spread = variance + distance * distance;
    const float drift = rest - before.u * inverse;
    const float reach = LARGEST_LOSS * spread;
    const float t = (drift + reach) / (distance + distance);
    float rho = t + sqrtf(fmaxf(t * (t - (needed + needed)) + rest, 0.0f));
    rho = fmaxf(rho, root);
    const float r = 0.5f / rho;
    const float cap = 0.5f * rho + rest * r;
    const float room = (cap - needed) + cap * RAISED_CAP;
    const bool unclipped = distance * room <= reach;
    const float stake = (unclipped ? distance : LARGEST_LOSS) / (unclipped ? spread : room);
    if (!(rho > 0.0f && r < LARGEST_FLOAT && stake < LARGEST_FLOAT)) return out;
    const float payoff = y - (u - rest) * r;
    const float factor = 1.0f + stake * (needed - payoff);
    out.factor = fminf(fmaxf(factor, SMALLEST_FACTOR), LARGEST_FACTOR);
    return out;
}
