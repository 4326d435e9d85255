import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type Controller, createManager, type Manager } from '@coracle/controller-runtime'
import { createMetricsRegistry, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { onTestFinished } from 'vitest'
import { reconcileCount } from './reconcile-count.ts'

/** Controllers at work on objects in memory, in virtual time. */
export interface AtWork {
  readonly environment: VirtualEnvironment
  readonly client: FakeClient
  readonly manager: Manager
  /** Reconciles that have ended. */
  looks(): number
}

/** Starts controllers that work until the test is over. To be called by the test, or before each. */
export async function atWork(create: (environment: VirtualEnvironment) => readonly Controller[]): Promise<AtWork> {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const metrics = createMetricsRegistry()
  const manager = createManager({ client, environment, metrics })
  onTestFinished(() => manager.stop())
  for (const controller of create(environment)) manager.add(controller)
  await manager.start()
  return { environment, client, manager, looks: () => reconcileCount(metrics) }
}
