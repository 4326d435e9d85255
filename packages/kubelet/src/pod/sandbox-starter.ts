import type { Pod } from '@coracle/api'
import type { IsolatingNode } from '../isolation/sandbox-isolation.ts'
import type { SandboxIsolation } from '../runtimes/runtime.ts'
import type { PodContext } from './pod-context.ts'
import { recordPodEvent } from './pod-events.ts'
import { podHostname } from './pod-hostname.ts'
import { podUidOf } from './pod-name.ts'

/** A sandbox could not be made, which takes a runtime that isolates pods some effort: it is tried again after a while. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}

/** Has the runtime make a pod a sandbox, and tells of secrets for its images that are missing. Rejects where it does not, which an Event tells, too. */
export async function startSandbox(context: PodContext, pod: Pod, attempt: number): Promise<void> {
  const { isolation, runtime } = context
  const { metadata, spec, status } = pod
  const preferredAddress = status?.podIP
  try {
    await runtime.runPodSandbox({
      podUid: podUidOf(pod),
      podName: metadata.name ?? '',
      podNamespace: metadata.namespace ?? '',
      attempt,
      hostname: podHostname(pod, isolation?.dns.domain),
      hostNetwork: spec.hostNetwork === true,
      ...(isolation === undefined ? {} : { isolation: await isolationOf(context, pod, isolation) }),
      ...(spec.hostUsers === false && isolation === undefined ? { ownUsers: true } : {}),
      ...(preferredAddress === undefined ? {} : { preferredAddress }),
    })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const told = `Failed to create pod sandbox: ${message}`
    recordPodEvent(context, pod, 'Warning', 'FailedCreatePodSandBox', told)
    throw isolation === undefined ? error : new SandboxError(message, { cause: error })
  }
  await warnOfPullSecrets(context, pod)
}

/** Loaded where pods are isolated. */
async function isolationOf(context: PodContext, pod: Pod, node: IsolatingNode): Promise<SandboxIsolation> {
  const { sandboxIsolation } = await import('../isolation/sandbox-isolation.ts')
  const { dnsProblems, ...isolation } = await sandboxIsolation(pod, node)
  for (const { reason, message } of dnsProblems) recordPodEvent(context, pod, 'Warning', reason, message)
  return isolation
}

/** Images that need none of the secrets that are missing can be had all the same. */
async function warnOfPullSecrets(context: PodContext, pod: Pod): Promise<void> {
  const { metadata, spec } = pod
  const missing: string[] = []
  for (const { name = '' } of spec.imagePullSecrets ?? []) {
    if (name === '') continue
    const secret = await context.sources.secret(metadata.namespace ?? '', name).catch(() => undefined)
    if (secret === undefined) missing.push(name)
  }
  if (missing.length === 0) return
  const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`
  recordPodEvent(context, pod, 'Warning', 'FailedToRetrieveImagePullSecret', message)
}
