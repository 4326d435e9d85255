import { hasReason, type Pod, runtimeClasses } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Runtime, RuntimeHandler } from '../runtimes/runtime.ts'

/** The name of the handler that runs a pod: what its runtime class says. Rejects where that class is not there. */
export async function runtimeHandlerOf({ spec: { runtimeClassName = '' } }: Pod, client: Client): Promise<string> {
  if (runtimeClassName === '') return ''
  try {
    const { handler } = await client.get(runtimeClasses, { name: runtimeClassName })
    return handler
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    throw new Error(`failed to get sandbox runtime: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`)
  }
}

/** What the runtime says of a handler; undefined where it says nothing of it. */
export const knownHandler = ({ handlers = [] }: Pick<Runtime, 'handlers'>, name: string): RuntimeHandler | undefined =>
  handlers.find((each) => each.name === name)
