import { type Clock, realClock, skewedClock } from './clock.ts'
import { consoleLogger } from './console-logger.ts'
import { type Logger, silentLogger } from './logger.ts'
import { type Random, realRandom, seededRandom } from './random.ts'
import { VirtualClock } from './virtual-clock.ts'

/** The world a component may touch. It is passed in, never reached for. */
export interface Environment {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** An environment whose clock belongs to a test. */
export interface VirtualEnvironment extends Environment {
  readonly clock: VirtualClock
}

/** The host's own clock and randomness. What is worth saying goes to standard error, unless another logger is given. */
export function realEnvironment(logger: Logger = consoleLogger()): Environment {
  return { clock: realClock, random: realRandom, logger }
}

/** A clock that stands still and seeded randomness: the same seed gives the same run. */
export function virtualEnvironment(
  options: { readonly seed?: number; readonly start?: string | number; readonly logger?: Logger } = {},
): VirtualEnvironment {
  return {
    clock: new VirtualClock(options.start),
    random: seededRandom(options.seed ?? 1),
    logger: options.logger ?? silentLogger,
  }
}

/**
 * The world of one component: randomness of its own, so that it does not shift what others draw, and a wall clock that may be
 * ahead of the others'.
 */
export function forkEnvironment(environment: Environment, name: string, skewMs = 0): Environment {
  const { clock, random, logger } = environment
  return { clock: skewMs === 0 ? clock : skewedClock(clock, skewMs), random: random.fork(name), logger }
}
