import type { Histogram, MetricsRegistry } from '@coracle/environment'
import type { Priority } from './work-queue.ts'

/** What a queue tells about its state when metrics are read. */
export interface WorkQueueState {
  /** Keys ready to be handed out. */
  depth(priority: Priority): number
  /** For how long, in ms, each key that is being processed has been. */
  processingMs(): readonly number[]
}

/** The metrics of one queue, under the names that client-go and controller-runtime give them. */
export interface WorkQueueMetrics {
  readonly queueSeconds: Histogram
  readonly workSeconds: Histogram
  added(): void
  retried(): void
  /** The queue is no more. */
  end(): void
}

/** Powers of ten from 10 ns to 1,000 s, as upstream has them. */
const buckets = Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`))

/** Metrics of the queue called `name`, whose depth and work under way are taken from `state` as they are read. */
export function createWorkQueueMetrics(
  metrics: MetricsRegistry,
  name: string,
  state: WorkQueueState,
): WorkQueueMetrics {
  const of = { name, controller: name }
  const labels = ['name', 'controller'] as const
  const histogram = (metric: string, help: string) =>
    metrics.histogram({ name: `workqueue_${metric}`, help, labels, buckets }).with(of)
  const gauge = (metric: string, help: string) => metrics.gauge({ name: `workqueue_${metric}`, help, labels })
  const counter = (metric: string, help: string) => metrics.counter({ name: `workqueue_${metric}`, help, labels })

  const depth = metrics.gauge({
    name: 'workqueue_depth',
    help: 'Keys that wait to be handed out, by queue and priority.',
    labels: [...labels, 'priority'] as const,
  })
  const unfinished = gauge('unfinished_work_seconds', 'How long the keys under way have been, all together.')
  const longest = gauge('longest_running_processor_seconds', 'How long the key longest under way has been.')
  const adds = counter('adds_total', 'How often a key was added.').with(of)
  const retries = counter('retries_total', 'How often a key was added again after it had failed.').with(of)
  const endCollecting = metrics.onCollect(() => {
    for (const priority of priorities) depth.with({ ...of, priority }).set(state.depth(priority))
    const runningMs = state.processingMs()
    unfinished.with(of).set(runningMs.reduce((sum, ms) => sum + ms, 0) / 1000)
    longest.with(of).set(Math.max(0, ...runningMs) / 1000)
  })
  return {
    queueSeconds: histogram('queue_duration_seconds', 'How long keys waited to be handed out.'),
    workSeconds: histogram('work_duration_seconds', 'How long it took to process a key.'),
    added: () => adds.inc(),
    retried: () => retries.inc(),
    end() {
      endCollecting()
      for (const priority of priorities) depth.remove({ ...of, priority })
      unfinished.remove(of)
      longest.remove(of)
    },
  }
}

const priorities: readonly Priority[] = ['fresh', 'background']
