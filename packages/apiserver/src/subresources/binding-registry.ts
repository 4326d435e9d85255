import { type Binding, bindings, type KubernetesObject, pods } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import { UnstoredObject, UnstoredRegistry } from '../registry/unstored-registry.ts'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { bindPod } from './binding.ts'

/** `bindings`, the older path to `pods/binding`: what is posted names its pod. Admission sees it as what it is, a Binding. */
export class BindingRegistry extends UnstoredRegistry<Binding> {
  readonly #registries: Registries
  readonly #environment: Environment

  constructor(registries: Registries, environment: Environment) {
    super(bindings)
    this.#registries = registries
    this.#environment = environment
  }

  override async create(
    context: RequestContext,
    namespace: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const registry = this.#registries.of(pods)
    if (registry === undefined) return super.create(context, namespace, body, options)
    const request = { context, namespace, body, options, to: 'bindings' } as const
    const { value, warnings } = await bindPod(registry, this.#environment, request)
    return { stored: new UnstoredObject(value as KubernetesObject), changed: true, warnings }
  }
}
