import { type ComponentStatus, compareText, componentStatuses, notFound } from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import type { HealthCheck } from '@coracle/environment'
import type { Store } from '@coracle/store'
import type { Registries } from '../registries.ts'
import { ComputedRegistry } from '../registry/computed-registry.ts'
import { type SelectedFields, selectionOf } from '../watch-cache/selection.ts'

/** Serves how the parts of the cluster are that this process knows of. Each is asked when somebody asks. */
export function serveComponentStatuses(registries: Registries, checks: () => readonly HealthCheck[]): void {
  const source = {
    async get(_namespace: string, name: string): Promise<ComponentStatus> {
      const check = checks().find((each) => each.name === name)
      if (check === undefined) throw notFound(componentStatuses, name)
      return statusOf(check)
    },
    async list(options: ListOptions): Promise<readonly ComponentStatus[]> {
      const { matches } = selectionOf(componentStatuses, options, metadataAlone)
      const sorted = [...checks()].sort((a, b) => compareText(a.name, b.name))
      return (await Promise.all(sorted.map(statusOf))).filter(matches)
    },
  }
  registries.addComputed(new ComputedRegistry(componentStatuses, source))
}

const metadataAlone: SelectedFields = { selectableFields: {}, selectsShown: false, hubField: (name) => name }

async function statusOf({ name, check }: HealthCheck): Promise<ComponentStatus> {
  const why = await check()
  const health = why === undefined ? { status: 'True', message: 'ok' } : { status: 'False', message: why }
  return {
    apiVersion: 'v1',
    kind: 'ComponentStatus',
    metadata: { name },
    conditions: [{ type: 'Healthy', ...health }],
  }
}

/** Whether the store answers. Under upstream's name, whatever it is. */
export const storeCheck = (store: Store): HealthCheck => ({
  name: 'etcd-0',
  check: async () => {
    try {
      await store.latest()
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  },
})
