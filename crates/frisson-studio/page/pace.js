// Keeps pictures at the pace of whoever draws them: none is begun before the last one is finished, and where
// one takes long less of it is drawn while things move, all of it once they rest.

/** A picture that takes longer leaves something out [ms]: with the way of an edit it is seen within a tenth of a second. */
const SLOW = 40;
/** Things rest when nothing new was to be drawn for so long [ms]. */
const RESTS_AFTER = 250;
/** What a picture costs beside that of the step before, until it was seen, and at most how many times as much the step
 *  before may cost: so that a busy moment does not make pictures coarse for good. */
const EXPECTED_GAIN = 0.45;
const MOST_GAIN = 4;

/** What is left out of pictures, step by step: the sides are halved so often, light is plain (no shadows, nothing
 *  mirrored), of hair so many points are drawn at most. */
export const STEPS = [
  { halvings: 0, isPlain: false, hairPoints: Infinity },
  { halvings: 0, isPlain: true, hairPoints: 30_000 },
  { halvings: 1, isPlain: true, hairPoints: 12_000 },
  { halvings: 2, isPlain: true, hairPoints: 6_000 },
];

export class Pace {
  constructor(renderer) {
    this.gl = renderer.getContext();
    this.fence = null;
    this.begun = 0;
    this.ended = 0;
    /** Which of the steps pictures are at now. */
    this.coarseness = 0;
    /** Whether every picture is drawn in full, for a film. */
    this.isWhole = false;
    this.finished = () => {};
    this.forget();
  }

  /** Another scene: nothing is known about its pictures. */
  forget() {
    /** How long the last picture of each step took, as far as is known [ms]. */
    this.costs = STEPS.map(() => null);
  }

  /** Whether the last picture is there. */
  isFree(now) {
    if (!this.fence) return true;
    const { gl } = this;
    const state = gl.clientWaitSync(this.fence, 0, 0);
    if (state === gl.TIMEOUT_EXPIRED) return false;
    gl.deleteSync(this.fence);
    this.fence = null;
    this.learn(now - this.begun);
    this.ended = now;
    this.finished(now, now - this.begun);
    return true;
  }

  /** A picture of the present step took so long; it was seen at the next look only: a part of that is waiting. */
  learn(took) {
    const now = this.coarseness;
    this.costs[now] = took;
    this.costs = this.costs.map((cost, step) =>
      cost === null || step === now ? cost : Math.min(cost, step > now ? took : took * MOST_GAIN ** (now - step)));
  }

  /** How long a picture of a step will take, by what is known of those before it [ms]. */
  expected(step) {
    for (let known = step; known >= 0; known -= 1) {
      if (this.costs[known] !== null) return this.costs[known] * EXPECTED_GAIN ** (step - known);
    }
    return 0;
  }

  /** How coarse the next picture is. */
  choose(isResting) {
    this.coarseness = 0;
    if (isResting || this.isWhole) return STEPS[0];
    // The first picture of a scene comes soon; to make the programs of the whole one takes its time.
    if (this.costs.every(cost => cost === null)) this.coarseness = 1;
    while (this.coarseness + 1 < STEPS.length && this.expected(this.coarseness) > SLOW) this.coarseness += 1;
    return STEPS[this.coarseness];
  }

  /** What the present picture leaves out. */
  get step() { return STEPS[this.coarseness]; }

  /** Whether a coarse picture may be drawn whole now. */
  mayRefine(now) {
    return this.coarseness > 0 && !this.fence && now - this.ended > RESTS_AFTER;
  }

  /** A picture was begun; says when it is there. */
  begin(finished) {
    const { gl } = this;
    if (this.fence) gl.deleteSync(this.fence);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.begun = performance.now();
    this.finished = finished;
  }
}
