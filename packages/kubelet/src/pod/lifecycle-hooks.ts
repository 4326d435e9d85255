import type { Container, LifecycleHandler, Pod } from '@coracle/api'
import { sleep } from '@coracle/environment'
import { type HandlerResult, type HandlerTarget, runHandler } from '../probes/handlers.ts'
import { portOf, withPort } from '../probes/ports.ts'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent, recordPodEvent } from './pod-events.ts'
import { podText, podUidOf } from './pod-name.ts'

/** Servers know hooks by this. */
const hookUserAgent = 'kube-lifecycle/1.36'

/**
 * Runs what a container asks to be done once it has started. Gives what went wrong, which is a reason to kill it; undefined where nothing
 * did. Ends early, and well, when the signal is aborted or the container has stopped.
 */
export async function runPostStart(
  context: PodContext,
  pod: Pod,
  address: string,
  containerId: string,
  container: Container,
  signal: AbortSignal,
): Promise<string | undefined> {
  const hook = container.lifecycle?.postStart
  if (hook === undefined || !canRun(context, hook)) return undefined
  const controller = new AbortController()
  const abort = () => controller.abort(new Error('the container has stopped'))
  signal.addEventListener('abort', abort, { once: true })
  const unsubscribe = onStop(context, pod, containerId, abort)
  const { ok, why } = await runHook(
    context,
    pod,
    hook,
    { runtime: context.runtime, containerId, container, address, userAgent: hookUserAgent, timeoutSeconds: 0 },
    controller.signal,
  )
  unsubscribe()
  signal.removeEventListener('abort', abort)
  if (ok || controller.signal.aborted) return undefined
  // What the container says may be secret, and events are read by more people than statuses.
  recordContainerEvent(context, pod, container, 'Warning', 'FailedPostStartHook', 'PostStartHook failed')
  const about = `for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(podText(pod))} failed - error: ${why}`
  if (hook.exec !== undefined) return `Exec lifecycle hook ([${hook.exec.command?.join(' ') ?? ''}]) ${about}`
  return `HTTP lifecycle hook (${hook.httpGet?.path ?? ''}) ${about}`
}

/**
 * Runs what a container asks to be done before it is stopped. It has the grace period, and a failure delays nothing: the
 * container is stopped all the same.
 */
export async function runPreStop(
  context: PodContext,
  pod: Pod,
  address: string,
  run: Pick<ContainerRuntimeStatus, 'id'>,
  container: Container | undefined,
  hook: LifecycleHandler,
  gracePeriodMs: number,
): Promise<void> {
  if (container === undefined || !canRun(context, hook)) return
  const { clock } = context.environment
  const controller = new AbortController()
  const timer = clock.setTimer(gracePeriodMs, () => controller.abort(new Error('the grace period is over')))
  const stopped = onStop(context, pod, run.id, () => controller.abort(new Error('the container has stopped')))
  const { ok } = await runHook(
    context,
    pod,
    hook,
    {
      runtime: context.runtime,
      containerId: run.id,
      container,
      address,
      userAgent: hookUserAgent,
      timeoutSeconds: gracePeriodMs / 1000,
    },
    controller.signal,
  )
  timer.cancel()
  stopped()
  if (!ok) recordContainerEvent(context, pod, container, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')
}

/**
 * Calls back when a container has stopped. What a runtime tells may be something else, such as that the container is ready: it is asked then.
 * Returns the way to end it.
 */
function onStop({ runtime }: PodContext, pod: Pod, containerId: string, listener: () => void): () => void {
  const look = async () => {
    const runs = await runtime.listContainers(podUidOf(pod))
    if (!runs.some(({ id, state }) => id === containerId && state === 'running')) listener()
  }
  return runtime.subscribe((event) => {
    // Where the runtime is away nothing is known.
    if (event.containerId === containerId) look().catch(() => {})
  })
}

/** Simulated containers have no process to run a command in or to answer a request, but they can wait. */
const canRun = ({ runtime }: PodContext, hook: LifecycleHandler): boolean =>
  runtime.runsProcesses || hook.sleep !== undefined

async function runHook(
  context: PodContext,
  pod: Pod,
  hook: LifecycleHandler,
  target: HandlerTarget,
  signal: AbortSignal,
): Promise<{ readonly ok: boolean; readonly why: string }> {
  if (hook.sleep === undefined) {
    const result = await runHandler(hook, target, signal)
    const { output, exitCode } = result
    const why =
      exitCode === undefined
        ? output
        : `command '${hook.exec?.command?.join(' ') ?? ''}' exited with ${exitCode}: ${output}, message: ${JSON.stringify(output)}`
    const ok = isHeard(result) || (await isHeardInPlain(context, pod, hook, target, result, signal))
    return { ok, why }
  }
  try {
    await sleep(context.environment.clock, Number(hook.sleep.seconds) * 1000, signal)
  } catch {
    // Cut short, as it should be.
  }
  return { ok: true, why: '' }
}

/** Hooks only want to be heard: what the server makes of it does not matter (upstream's runHTTPHandler). */
const isHeard = ({ ok, answered }: HandlerResult): boolean => ok || answered === true

/** A server that speaks no TLS is asked again without, and that is told. */
async function isHeardInPlain(
  context: PodContext,
  pod: Pod,
  { httpGet }: LifecycleHandler,
  target: HandlerTarget,
  { output }: HandlerResult,
  signal: AbortSignal,
): Promise<boolean> {
  if (httpGet?.scheme !== 'HTTPS' || !/wrong version number|packet length too long/.test(output)) return false
  const httpHeaders = httpGet.httpHeaders?.filter(({ name }) => name.toLowerCase() !== 'authorization')
  const plain = { ...httpGet, scheme: 'HTTP', ...(httpHeaders === undefined ? {} : { httpHeaders }) } as const
  if (!isHeard(await runHandler({ httpGet: plain }, target, signal))) return false
  const host = withPort(httpGet.host || target.address, portOf(httpGet.port, target.container))
  const message = `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`
  recordPodEvent(context, pod, 'Warning', 'LifecycleHTTPFallback', message)
  return true
}
