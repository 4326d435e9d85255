import type { KubernetesObject } from '@coracle/api'
import { type Plan, performPlan, type ReconcileContext, type Result } from '@coracle/controller-runtime'
import { isNamespaceGoing } from './going.ts'

/** Carries a plan out; in a namespace that is going nothing can be made, and nothing needs to be. */
export async function performUnlessGoing<S, T extends KubernetesObject & { readonly status?: S | undefined }>(
  context: ReconcileContext<T>,
  object: T,
  plan: Plan<S>,
): Promise<Result> {
  try {
    return await performPlan(context, object, plan)
  } catch (error) {
    if (isOnlyNamespaceGoing(error)) return undefined
    throw error
  }
}

/** Whether a plan failed for nothing but that its namespace is going. */
export function isOnlyNamespaceGoing(error: unknown): boolean {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  return errors.every(isNamespaceGoing)
}
