import { type ContainerStatus, describeStatusChange, finderOf, type PodStatus } from '@coracle/api'
import type { OwnPodStatus } from './pod-status.ts'

/** What has happened on the node, in words, that makes a pod's status another: `container main started, container main is ready`. */
export function statusReason(before: PodStatus | undefined, after: OwnPodStatus): string {
  const told = [
    ...failureChange(before, after),
    ...containerChanges(before?.initContainerStatuses, after.initContainerStatuses, 'init container'),
    ...containerChanges(before?.containerStatuses, after.containerStatuses, 'container'),
    ...containerChanges(before?.ephemeralContainerStatuses, after.ephemeralContainerStatuses, 'ephemeral container'),
  ]
  if (before?.phase !== after.phase && told.length === 0) told.push(`phase is ${after.phase}`)
  return told.length === 0 ? describeStatusChange(before, { ...before, ...after }) : told.join(', ')
}

function failureChange(before: PodStatus | undefined, { reason, message }: OwnPodStatus): string[] {
  if (reason === undefined || before?.reason === reason) return []
  return [message === undefined ? reason : `${reason}: ${message}`]
}

function containerChanges(
  before: readonly ContainerStatus[] = [],
  after: readonly ContainerStatus[] = [],
  what: string,
): readonly string[] {
  const oldOf = finderOf(before, ({ name }) => name)
  return after.flatMap((status) => {
    const old = oldOf(status.name)
    return [...stateChange(old, status), ...readyChange(old, status)].map((told) => `${what} ${status.name} ${told}`)
  })
}

function stateChange(old: ContainerStatus | undefined, status: ContainerStatus): readonly string[] {
  const { waiting, running, terminated } = status.state ?? {}
  const told: string[] = []
  // It may have ended and begun to wait, or to run again, since the last word about it.
  const ended = terminated ?? status.lastState?.terminated
  const known = old?.state?.terminated ?? old?.lastState?.terminated
  if (ended !== undefined && known?.finishedAt !== ended.finishedAt) {
    const because = ended.reason === undefined ? '' : ` (${ended.reason})`
    told.push(`ended with exit code ${ended.exitCode}${because}`)
  }
  if (running !== undefined && old?.state?.running?.startedAt !== running.startedAt) told.push('started')
  if (waiting !== undefined && old?.state?.waiting?.reason !== waiting.reason) {
    told.push(`waits (${waiting.reason ?? 'no reason'})`)
  }
  return told
}

function readyChange(old: ContainerStatus | undefined, { ready, started }: ContainerStatus): readonly string[] {
  const wasReady = old?.ready === true
  if (ready && !wasReady) return ['is ready']
  if (!ready && wasReady) return ['is not ready']
  return started === true && old !== undefined && old.started !== true && old.state?.running !== undefined
    ? ['has passed its startup probe']
    : []
}
