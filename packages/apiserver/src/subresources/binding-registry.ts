import { type Binding, badRequest, bindings, type KubernetesObject, pods, type Resource } from '@coracle/api'
import { UnstoredObject, UnstoredRegistry } from '../registry/unstored-registry.ts'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import type { Subresource } from './subresource.ts'

/** `bindings`, the older path to `pods/binding`: what is posted names its pod. */
export class BindingRegistry extends UnstoredRegistry<Binding> {
  readonly #subresource: (resource: Resource, name: string) => Subresource | undefined

  constructor(subresource: (resource: Resource, name: string) => Subresource | undefined) {
    super(bindings)
    this.#subresource = subresource
  }

  override async create(
    context: RequestContext,
    namespace: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const create = this.#subresource(pods, 'binding')?.create
    if (create === undefined) return super.create(context, namespace, body, options)
    const { name = '' } = (body as Partial<KubernetesObject> | null)?.metadata ?? {}
    if (name === '') throw badRequest('name must be provided')
    const { value, warnings } = await create(context, namespace, name, body, options)
    return { stored: new UnstoredObject(value as KubernetesObject), changed: true, warnings }
  }
}
