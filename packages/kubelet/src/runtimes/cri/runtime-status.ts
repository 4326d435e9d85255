import type { Decoded } from '@coracle/environment/grpc'
import { type RuntimeHandler, type RuntimeStatus, RuntimeUnavailableError } from '../runtime.ts'
import type { runtimeHandler } from './messages.ts'

/** A condition of a container runtime: `RuntimeReady` or `NetworkReady`. */
export interface RuntimeCondition {
  readonly type: string
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

/** Whether a runtime says that it can run containers. What it says of its handlers counts only then. */
export const isRuntimeReady = (conditions: readonly RuntimeCondition[]): boolean =>
  unmet(conditions, 'RuntimeReady') === undefined

/** What is wrong with a runtime by its conditions, in the words of upstream's node agent. */
export function statusFromConditions(conditions: readonly RuntimeCondition[]): RuntimeStatus {
  const text = ({ type, reason, message }: RuntimeCondition) => `${type}=false reason:${reason} message:${message}`
  const [runtime, network] = [unmet(conditions, 'RuntimeReady'), unmet(conditions, 'NetworkReady')]
  const networkProblem = network && `container runtime network not ready: ${text(network)}`
  return {
    problems: [
      ...(runtime === undefined ? [] : [`container runtime not ready: ${text(runtime)}`]),
      ...(networkProblem === undefined ? [] : [networkProblem]),
    ],
    ...(networkProblem === undefined ? {} : { networkProblem }),
  }
}

/** What is wrong with a runtime that could not be asked for its status. */
export function statusFromError(error: unknown): RuntimeStatus {
  if (error instanceof RuntimeUnavailableError) return { problems: ['container runtime is down'] }
  const why = error instanceof Error ? error.message : String(error)
  return { problems: [`container runtime status check may not have completed yet: ${why}`] }
}

/** A handler as the runtime describes it; one that names no features has none. */
export const handlerOf = ({ name, features }: Decoded<typeof runtimeHandler>): RuntimeHandler => ({
  name,
  features: features ?? { recursiveReadOnlyMounts: false, userNamespaces: false },
})

const unmet = (conditions: readonly RuntimeCondition[], type: string): RuntimeCondition | undefined =>
  conditions.find((each) => each.type === type && !each.status)
