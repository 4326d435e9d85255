/** What components may touch of the host: clock, timers, randomness and logger, real or virtual; and metrics. */
export { AssertionError, assert } from './assert.ts'
export {
  aborted,
  type Clock,
  keepProcess,
  realClock,
  sleep,
  type Time,
  type Timer,
  type TimerOptions,
} from './clock.ts'
export { type ConsoleLoggerOptions, consoleLogger, localTimeOfDay } from './console-logger.ts'
export { durationProblem, parseDuration } from './duration.ts'
export {
  type Environment,
  forkEnvironment,
  realEnvironment,
  type VirtualEnvironment,
  virtualEnvironment,
} from './environment.ts'
export { fnv1a } from './fnv1a.ts'
export { answerCheck, answerHealth, type HealthAnswer, type HealthCheck, type HealthObserver, ping } from './health.ts'
export { type ProcessMemory, returnMemoryWhenIdle } from './idle-memory.ts'
export { keptAlive } from './kept-alive.ts'
export { LoadOnce } from './load-once.ts'
export { type LogLibrary, loggerOf } from './log-library.ts'
export { createLogger, type LogFields, type Logger, type LogLevel, type LogLine, silentLogger } from './logger.ts'
export {
  type Counter,
  createMetricsRegistry,
  defaultBuckets,
  doublingBuckets,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type Metric,
  type MetricOptions,
  type MetricsRegistry,
  metricSeriesMax,
  metricsContentType,
} from './metrics/metrics.ts'
export { collectProcessMetrics } from './metrics/process-metrics.ts'
export { labelsText, valueText } from './metrics/text-format.ts'
export { nameAlphabet, type Random, realRandom, seededRandom } from './random.ts'
export { SharedTurn } from './shared-turn.ts'
export { type Trust, trusting } from './trusting.ts'
export { TurnLimiter } from './turn-limiter.ts'
export { quietLeadMs, VirtualClock } from './virtual-clock.ts'
