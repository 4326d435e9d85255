import { hasReason, namespaces, priorityClasses, serviceCidrs, systemPriorities } from '@coracle/api'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { firstServiceCidr } from '../services/service-ranges.ts'

/** The namespaces every cluster has. */
export const firstNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/**
 * Creates what every cluster has and is not there: its first namespaces, the priority classes of the
 * system, and where services get their addresses: in `serviceCidr`, or the range that clusters usually have.
 */
export async function createFirstObjects(registries: Registries, serviceCidr: string | undefined): Promise<void> {
  const classes = Object.entries(systemPriorities).map(([name, value]) => ({
    metadata: { name },
    value,
    description: systemClassUses[name],
  }))
  await Promise.all([
    createMissing(
      registries.of(namespaces),
      firstNamespaces.map((name) => ({ metadata: { name } })),
    ),
    createMissing(registries.of(priorityClasses), classes),
    createFirstServiceCidr(registries, serviceCidr),
  ])
}

/** Creates the object by which services get their addresses, where it is missing. */
export const createFirstServiceCidr = (
  registries: Registries,
  serviceCidr: string = firstServiceCidr.cidr,
): Promise<void> =>
  createMissing(registries.of(serviceCidrs), [
    { metadata: { name: firstServiceCidr.name }, spec: { cidrs: [serviceCidr] } },
  ])

/** When to use the priority classes of the system. */
const systemClassUses: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'For pods that the cluster cannot do without, on whatever node they are.',
  'system-node-critical': 'For pods that a node cannot do without, and that cannot be on another one.',
}

interface Named {
  readonly metadata: { readonly name: string }
  readonly spec?: unknown
}

const context = apiServerContext('every cluster has it')

async function createMissing(registry: ResourceRegistry | undefined, objects: readonly Named[]): Promise<void> {
  if (registry === undefined) return
  await Promise.all(
    objects.map(async (object) => {
      if ((await registry.current('', object.metadata.name)) !== undefined) return
      try {
        await registry.create(context, '', object, options)
      } catch (error) {
        // Another server on the same store was faster.
        if (!hasReason(error, 'AlreadyExists')) throw error
      }
    }),
  )
}
