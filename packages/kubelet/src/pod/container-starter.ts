import type { Container, Pod } from '@coracle/api'
import { environmentVariables } from '../env/environment-variables.ts'
import { expandCommand } from '../env/expand-command.ts'
import type { PresentImage } from '../images/image-puller.ts'
import { askedUser } from '../isolation/security.ts'
import { probesOfReadiness } from '../probes/readiness.ts'
import {
  type ContainerConfig,
  ContainerConfigError,
  type DeviceAccess,
  ImagePullError,
  type PodSandboxStatus,
} from '../runtimes/runtime.ts'
import { runsOf, type WaitingReason } from '../status/container-statuses.ts'
import type { MountedVolumes } from '../volumes/claimed-volumes.ts'
import { containerMounts } from '../volumes/container-mounts.ts'
import type { ContainerImages } from './container-images.ts'
import {
  type ImageFailure,
  imagePullFailure,
  invalidImageName,
  presentText,
  type Tell,
  tellPulling,
} from './image-pull.ts'
import { runPostStart, runPreStop } from './lifecycle-hooks.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent } from './pod-events.ts'
import { podUidOf } from './pod-name.ts'
import { checkRunAsNonRoot } from './run-as-non-root.ts'
import { gracePeriodMinMs } from './stop-containers.ts'
import { isTask } from './task.ts'

/**
 * Configures, creates and starts one run of a container, its postStart hook included. Gives the reason where that
 * fails, as upstream names it. Aborting the signal ends a start that takes long, and the hook.
 */
export async function startContainer(
  context: PodContext,
  pod: Pod,
  sandbox: PodSandboxStatus,
  volumes: MountedVolumes,
  container: Container,
  attempt: number,
  signal: AbortSignal,
): Promise<ImageFailure | undefined> {
  const fail = (reason: string, error: unknown): WaitingReason => {
    const message = error instanceof Error ? error.message : String(error)
    recordContainerEvent(context, pod, container, 'Warning', 'Failed', `Error: ${message}`)
    return { reason, message }
  }
  const report = (reason: string, message: string) =>
    recordContainerEvent(context, pod, container, 'Normal', reason, message)

  const badName = invalidImageName(container.image)
  if (badName !== undefined) {
    recordContainerEvent(context, pod, container, 'Warning', 'InspectFailed', badName.message)
    recordContainerEvent(context, pod, container, 'Warning', 'Failed', `Error: ${badName.reason}`)
    return badName
  }
  const { images } = context.runtime
  const ensured =
    images &&
    (await (await import('./container-images.ts')).ensureContainerImages(context, images, pod, container, signal))
  if (ensured !== undefined && 'failure' in ensured) return ensured.failure
  // Where there are no images none is missing.
  const reportPulled = () => {
    if (ensured === undefined) report('Pulled', presentText(container.image ?? ''))
  }
  let config: ContainerConfig
  try {
    config = await configOf(context, pod, sandbox, volumes, container, attempt, ensured, signal)
  } catch (error) {
    if (signal.aborted) return undefined
    reportPulled()
    return fail('CreateContainerConfigError', error)
  }
  let id: string
  try {
    id = await context.runtime.createContainer(sandbox.id, config)
  } catch (error) {
    if (error instanceof ImagePullError) {
      const tell: Tell = (type, said, message) => recordContainerEvent(context, pod, container, type, said, message)
      tellPulling(tell, container.image ?? '')
      return imagePullFailure(tell, container.image ?? '', error)
    }
    reportPulled()
    return fail(error instanceof ContainerConfigError ? 'CreateContainerConfigError' : 'CreateContainerError', error)
  }
  reportPulled()
  report('Created', 'Container created')
  try {
    await context.runtime.startContainer(id, signal)
  } catch (error) {
    // Whoever ends the pod does not wait for what has yet to run.
    if (signal.aborted) return undefined
    return fail('RunContainerError', error)
  }
  report('Started', 'Container started')
  const address = sandbox.addresses[0] ?? context.nodeAddress
  const message = await runPostStart(context, pod, address, id, container, signal)
  if (message === undefined) return undefined
  await killStarted(context, pod, address, id, container)
  return { reason: 'PostStartHookError', message }
}

/** Stops a container whose postStart hook has failed: it gets the time that its pod gives it. */
async function killStarted(
  context: PodContext,
  pod: Pod,
  address: string,
  id: string,
  container: Container,
): Promise<void> {
  const { clock } = context.environment
  recordContainerEvent(context, pod, container, 'Normal', 'Killing', 'FailedPostStartHook')
  const { deletionGracePeriodSeconds } = pod.metadata
  const graceMs = Number(deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000
  const untilMs = clock.monotonicMs() + graceMs
  const hook = container.lifecycle?.preStop
  if (hook !== undefined && graceMs > 0) await runPreStop(context, pod, address, { id }, container, hook, graceMs)
  await context.runtime.stopContainer(id, Math.max(gracePeriodMinMs, untilMs - clock.monotonicMs()))
}

async function configOf(
  context: PodContext,
  pod: Pod,
  sandbox: PodSandboxStatus,
  volumes: MountedVolumes,
  container: Container,
  attempt: number,
  images: ContainerImages | undefined,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const present = images?.present
  checkRunAsNonRoot(pod, container, present?.image)
  const podAddresses = sandbox.addresses.length > 0 ? sandbox.addresses : [context.nodeAddress]
  const downward = { pod, podAddresses, nodeAddress: context.nodeAddress, allocatable: context.allocatable }
  const env = await environmentVariables(container, downward, context.sources, volumes)
  const values = new Map(env.map(({ name, value }) => [name, value]))
  const stopSignal = container.lifecycle?.stopSignal
  const offered = await context.devices?.()?.prepareStart(pod, container)
  const claimed = (await context.claimedDevices?.cdiNames(pod, container)) ?? []
  const ownMounts = await containerMounts(container, volumes, values, images?.volumes, async (mount) => {
    const { isRecursiveReadOnly } = await import('../isolation/recursive-read-only.ts')
    return isRecursiveReadOnly(mount, pod, context)
  })
  const mounts = [...(offered?.mounts ?? []), ...ownMounts]
  return {
    name: container.name,
    attempt,
    image: container.image ?? '',
    command: expandCommand(container.command, values, 'command'),
    args: expandCommand(container.args, values, 'args'),
    // What the pod says itself counts.
    env: [...(offered?.env.filter(({ name }) => !values.has(name)) ?? []), ...env],
    ...(container.workingDir === undefined ? {} : { workingDirectory: container.workingDir }),
    ...(stopSignal === undefined ? {} : { stopSignal }),
    mounts: (await context.withHosts?.(mounts, pod, sandbox.addresses, signal)) ?? mounts,
    terminationMessagePath: container.terminationMessagePath ?? '/dev/termination-log',
    ...(container.stdin === true ? { stdin: true, stdinOnce: container.stdinOnce === true } : {}),
    ...(container.tty === true ? { tty: true } : {}),
    ...(isTask(pod, container) ? { isTask: true } : {}),
    probes: probesOfReadiness(container),
    messageFromLog: container.terminationMessagePolicy === 'FallbackToLogsOnError',
    ...(present === undefined ? {} : { imageRef: present.imageRef }),
    ...devicesOf(offered, claimed),
    ...(await isolationOf(context, pod, container, present)),
  }
}

/** A container has devices that plugins offer, and those of its claims. */
function devicesOf(offered: DeviceAccess | undefined, claimed: readonly string[]): Pick<ContainerConfig, 'devices'> {
  if (offered === undefined && claimed.length === 0) return {}
  const { files = [], cdiNames = [], annotations = {} } = offered ?? {}
  return { devices: { files, annotations, cdiNames: [...new Set([...cdiNames, ...claimed])] } }
}

/** What containers are isolated by is loaded where they are. */
async function isolationOf(
  { isolation, runtime }: PodContext,
  pod: Pod,
  container: Container,
  present: PresentImage | undefined,
): Promise<Pick<ContainerConfig, 'isolation' | 'user'>> {
  if (isolation === undefined) {
    const user = runtime.runsProcesses ? askedUser(pod, container) : undefined
    return user === undefined ? {} : { user }
  }
  // Only one that is to look into another has to know which that is.
  const looks = pod.spec.ephemeralContainers?.some(({ name }) => name === container.name) === true
  const runs = looks ? await runtime.listContainers(podUidOf(pod)) : []
  const idOf = (name: string) => runsOf(name, runs).find(({ state }) => state === 'running')?.id
  const { containerIsolation } = await import('../isolation/container-isolation.ts')
  return { isolation: containerIsolation(pod, container, present?.image, isolation, idOf) }
}
