// Keeps pictures at the pace of whoever draws them: none is begun before the last one is finished, and where
// one takes long it is drawn coarser while things move, whole once they rest.

/** A picture that takes longer is drawn coarser [ms]. */
const SLOW = 60;
/** Sides are halved at most so often. */
const COARSEST = 2;
/** Things rest when nothing new was to be drawn for so long [ms]. */
const RESTS_AFTER = 250;

export class Pace {
  constructor(renderer) {
    this.gl = renderer.getContext();
    this.fence = null;
    this.begun = 0;
    this.ended = 0;
    /** How long the last whole picture took, as far as is known [ms]. */
    this.cost = 0;
    /** Sides of the pictures are halved so often now. */
    this.coarseness = 0;
    /** Whether every picture is drawn in full, for a film. */
    this.isWhole = false;
    this.finished = () => {};
  }

  /** Whether the last picture is there. */
  isFree(now) {
    if (!this.fence) return true;
    const { gl } = this;
    const state = gl.clientWaitSync(this.fence, 0, 0);
    if (state === gl.TIMEOUT_EXPIRED) return false;
    gl.deleteSync(this.fence);
    this.fence = null;
    // Seen at the next look only: a part of what is measured is waiting.
    this.cost = (now - this.begun) * 4 ** this.coarseness;
    this.ended = now;
    this.finished(now, now - this.begun);
    return true;
  }

  /** How coarse the next picture is, by what the last ones took. */
  choose(isResting) {
    const wanted = isResting || this.isWhole ? 0 : Math.ceil(Math.log2(Math.max(1, this.cost / SLOW)) / 2);
    this.coarseness = Math.min(COARSEST, wanted);
    return this.coarseness;
  }

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
