import type { Container, Pod } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Runtime } from '../runtimes/runtime.ts'
import { knownHandler, runtimeHandlerOf } from './runtime-handler.ts'

type VolumeMount = NonNullable<Container['volumeMounts']>[number]

/**
 * Whether a mount of a pod is to be read-only with all that is mounted below it, which takes a handler that can. Rejects in upstream's words where
 * that must be and cannot.
 */
export async function isRecursiveReadOnly(
  { name, recursiveReadOnly }: VolumeMount,
  pod: Pod,
  { runtime, client }: { readonly runtime: Pick<Runtime, 'handlers'>; readonly client: Client },
): Promise<boolean> {
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') return false
  const handler = await runtimeHandlerOf(pod, client).catch(() => undefined)
  const isSupported = handler !== undefined && knownHandler(runtime, handler)?.features.recursiveReadOnlyMounts === true
  if (recursiveReadOnly === 'Enabled' && !isSupported) {
    throw new Error(
      `failed to resolve recursive read-only mode: volume ${JSON.stringify(name)} requested recursive read-only mode, but it is not supported by the runtime`,
    )
  }
  return isSupported
}
