import type { CustomResourceDefinition, Resource } from '@coracle/api'
import type { Client } from '@coracle/client'
import { expect, it } from 'vitest'
import { deleteInstances } from './instances.ts'

type Version = CustomResourceDefinition['spec']['versions'][number]

const definition = (versions: readonly Version[]): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crates.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'crates', kind: 'Crate' }, versions },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
})

const version = (name: string, served: boolean, storage: boolean): Version => ({ name, served, storage })

/** Answers in one version only: whoever converts objects to the others is gone. */
function clientOf(answering: string) {
  const deleted: string[] = []
  const check = ({ version }: Resource): void => {
    if (version !== answering) throw new Error(`conversion webhook for example.com/${version}, Kind=Crate failed`)
  }
  const items = [{ apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a', namespace: 'n' } }]
  const client = {
    async list(resource: Resource) {
      check(resource)
      return { items: deleted.length === 0 ? items : [] }
    },
    async deleteCollection(resource: Resource, { namespace = '' }) {
      check(resource)
      deleted.push(namespace)
    },
  }
  return { client: client as unknown as Client, deleted }
}

it.each<[string, readonly Version[], string]>([
  ['in the version that they are stored in', [version('v1', true, false), version('v2', true, true)], 'v2'],
  ['in one that is served, where that is not', [version('v1', true, false), version('v2', false, true)], 'v1'],
  ['in the stored version, where none is served', [version('v1', false, false), version('v2', false, true)], 'v2'],
])('objects go %s, so that as little as can be has to be converted', async (_, versions, expected) => {
  const { client, deleted } = clientOf(expected)
  expect(await deleteInstances(client, definition(versions))).toEqual({ type: 'remaining', count: 0 })
  expect(deleted).toEqual(['n'])
})
