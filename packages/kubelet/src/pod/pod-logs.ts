import { badRequest, type ContainerStateTerminated, type ContainerStatus, type Pod } from '@coracle/api'
import type { LogOptions, LogReadOptions } from '../log-options.ts'
import type { Runtime } from '../runtimes/runtime.ts'

/**
 * The log of one of a pod's containers. Throws an ApiError in upstream's words where the container is not said or not
 * there, has not run yet, or has no earlier run.
 */
export function podLogs(
  runtime: Runtime,
  pod: Pod,
  statuses: readonly ContainerStatus[],
  options: LogOptions,
  nowMs: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const container = chosenContainer(pod, options.container)
  const id = containerIdFor(pod, container, statuses, options.previous).replace(`${runtime.name}://`, '')
  return runtime.readLog(id, readOptions(options, nowMs), signal)
}

function chosenContainer(pod: Pod, asked: string): string {
  const regular = pod.spec.containers.map(({ name }) => name)
  const init = (pod.spec.initContainers ?? []).map(({ name }) => name)
  if (asked !== '') {
    const ephemeral = (pod.spec.ephemeralContainers ?? []).map(({ name }) => name)
    if (regular.includes(asked) || init.includes(asked) || ephemeral.includes(asked)) return asked
    throw badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`)
  }
  const [first] = regular
  if (first !== undefined && regular.length === 1 && init.length === 0) return first
  const others = init.length === 0 ? '' : ` or one of the init containers: [${init.join(' ')}]`
  const choice = `choose one of: [${regular.join(' ')}]${others}`
  throw badRequest(`a container name must be specified for pod ${pod.metadata.name}, ${choice}`)
}

/**
 * The run that is on, else the latest that has ended: upstream's validateContainerLogStatus, with the message after the
 * reason. A run whose command never ran has no log, and the reason for that is told instead.
 */
function containerIdFor(pod: Pod, container: string, statuses: readonly ContainerStatus[], previous: boolean): string {
  const about = `container "${container}" in pod "${pod.metadata.name}"`
  const status = statuses.find(({ name }) => name === container)
  if (status === undefined) throw badRequest(`${about} is not available`)
  const last = status.lastState?.terminated
  if (previous) return idOfEnded(last, about) ?? refuse(`previous terminated ${about} not found`)
  const { running, terminated, waiting } = status.state ?? {}
  if (running !== undefined && status.containerID !== undefined) return status.containerID
  const id = idOfEnded(terminated, about) ?? idOfEnded(last, about)
  if (id !== undefined) return id
  if (terminated !== undefined || last !== undefined) throw badRequest(`${about} is terminated`)
  if (waiting?.reason === undefined) throw badRequest(`${about} is waiting to start - no logs yet`)
  throw badRequest(`${about} is waiting to start: ${withMessage(waiting.reason, waiting.message)}`)
}

function idOfEnded(run: ContainerStateTerminated | undefined, about: string): string | undefined {
  if (run?.reason !== 'StartError') return run?.containerID
  throw badRequest(`${about} could not start: ${withMessage(run.reason, run.message)}`)
}

function withMessage(reason: string, message = ''): string {
  return message === '' ? reason : `${reason}: ${message}`
}

function refuse(message: string): never {
  throw badRequest(message)
}

function readOptions(options: LogOptions, nowMs: number): LogReadOptions {
  const { follow, timestamps, tailLines, limitBytes, sinceSeconds, sinceTimeMs } = options
  const since = sinceSeconds === undefined ? sinceTimeMs : nowMs - sinceSeconds * 1000
  return {
    follow,
    timestamps,
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since === undefined ? {} : { sinceTimeMs: since }),
  }
}
