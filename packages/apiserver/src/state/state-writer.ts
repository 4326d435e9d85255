import {
  ApiError,
  apiVersionOf,
  builtinKinds,
  type CustomResourceDefinition,
  compile,
  type IpAddressObject,
  type JsonObject,
  type KubernetesObject,
  type ResourceDefinition,
  type Service,
  type StoredKind,
} from '@coracle/api'
import { convertFormerVersion } from '@coracle/api/legacy'
import type { Environment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { clusterIpsOf } from '../services/cluster-ips.ts'
import { ipAddressOf } from '../services/ip-address.ts'
import { portRecordKey, portRecordOf } from '../services/node-port-records.ts'
import { nodePortsOf } from '../services/node-ports.ts'
import { createObjectCodec } from '../watch-cache/object-codec.ts'
import { registryPrefix } from '../watch-cache/store-feed.ts'
import { StateReport } from './state-report.ts'

/** Objects being written at a time. */
const writesMax = 256

/**
 * Puts objects into a store that no server runs on yet, as they are: with their uid, times, generation, owners, finalizers,
 * deletion, status and the owners of their fields. Neither admission nor rules for changes look at them. They are decoded by
 * the schema of their kind, and what that does not know is reported; fields that are newer than the object get their defaults,
 * as when a server reads what an older one has stored. Only `resourceVersion` is new: each object gets the next one.
 *
 * Definitions of custom kinds have to come before the objects of these.
 */
export class StateWriter {
  readonly report = new StateReport()
  readonly #store: Store
  readonly #environment: Environment
  readonly #kinds = new Map<string, StoredKind>()
  readonly #services: Service[] = []
  readonly #addresses = new Set<string>()

  constructor(store: Store, environment: Environment) {
    this.#store = store
    this.#environment = environment
    for (const kind of builtinKinds) this.#know(kind)
  }

  /** Writes objects in this order. Rejects where the store has one of them already. */
  async write(objects: readonly KubernetesObject[]): Promise<void> {
    for (let start = 0; start < objects.length; start += writesMax) {
      const writes: Promise<void>[] = []
      for (const object of objects.slice(start, start + writesMax)) {
        if (object.kind === definitionKind) await this.#define(object as unknown as CustomResourceDefinition)
        const readable = this.#read(object)
        if (readable !== undefined) writes.push(this.#put(readable))
      }
      await Promise.all(writes)
    }
  }

  /** Makes what the server keeps beside objects agree with them: addresses and ports of services. Call it once, at the end. */
  async finish(): Promise<void> {
    const addresses = this.#kinds.get('networking.k8s.io IPAddress')
    for (const service of this.#services) {
      for (const ip of clusterIpsOf(service.spec)) {
        if (addresses === undefined || this.#addresses.has(ip)) continue
        this.#addresses.add(ip)
        await this.#put({ kind: addresses, definition: addresses, object: ipAddressOf(service, ip, this.#environment) })
      }
      for (const port of nodePortsOf(service.spec)) await this.#commit(portRecordKey(port), portRecordOf(service))
    }
  }

  #know(kind: StoredKind): void {
    this.#kinds.set(`${kind.group} ${kind.kind}`, kind)
  }

  async #define(definition: CustomResourceDefinition): Promise<void> {
    const { customKind } = await import('@coracle/api/custom')
    try {
      const kind = customKind(definition)
      if (!this.#kinds.has(`${kind.group} ${kind.kind}`)) this.#know(kind)
    } catch (error) {
      this.report.refused(definition as unknown as KubernetesObject, messageOf(error))
    }
  }

  /** The object as it is stored; undefined, with a report, where it cannot be. */
  #read(given: KubernetesObject): Readable | undefined {
    const { apiVersion = '', kind: kindName = '' } = given
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    const former = this.#kinds.get(`${group} ${kindName}`) === undefined || this.#versionOf(given) === undefined
    const object = former ? (convertFormerVersion(given as unknown as JsonObject)?.object ?? given) : given
    const found = this.#versionOf(object as KubernetesObject)
    if (found === undefined) {
      this.report.unknownKind(apiVersion, kindName)
      return undefined
    }
    try {
      return this.#decode(found, object as KubernetesObject)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.report.refused(given, error.message)
      return undefined
    }
  }

  #versionOf({ apiVersion = '', kind: name = '' }: KubernetesObject): Version | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    const kind = this.#kinds.get(`${group} ${name}`) ?? this.#otherGroup(apiVersion, name)
    if (kind === undefined) return undefined
    if (apiVersionOf(kind) === apiVersion) return { kind, definition: kind }
    const definition = kind.versions.find((each) => apiVersionOf(each) === apiVersion)
    return definition === undefined ? undefined : { kind, definition }
  }

  /** A kind may be served in a second group, as events are. */
  #otherGroup(apiVersion: string, name: string): StoredKind | undefined {
    return [...this.#kinds.values()].find(
      ({ versions, kind }) => kind === name && versions.some((each) => apiVersionOf(each) === apiVersion),
    )
  }

  #decode({ kind, definition }: Version, given: KubernetesObject): Readable {
    const { resourceVersion: _resourceVersion, ...metadata } = given.metadata
    const missing = ['name', 'uid', 'creationTimestamp'].find((field) => !(field in metadata))
    if (missing !== undefined)
      throw new ApiError(400, 'BadRequest', `metadata.${missing}: Required value: it is no object of a server`)
    const compiled = compile(definition.schema)
    const { value, warnings } = compiled.decode(
      { ...given, metadata },
      {
        fieldValidation: 'Warn',
        kind: definition.kind,
        version: definition.version,
      },
    )
    for (const warning of warnings) this.report.droppedField(given, warning)
    const defaulted = compiled.applyDefaults(value) as KubernetesObject
    const object = definition.applyDefaults?.(defaulted) ?? defaulted
    if (kind.custom !== undefined || definition === kind) return { kind, definition, object }
    const version = kind.versions.find((each) => each === definition)
    const hub = version?.toHub(object) ?? object
    if (hub instanceof Promise) throw new Error(`converting ${given.apiVersion} ${given.kind} must not take time`)
    return { kind, definition: kind, object: { ...hub, apiVersion: apiVersionOf(kind), kind: kind.kind } }
  }

  async #put({ kind, definition, object }: Readable): Promise<void> {
    const { namespace = '', name = '' } = object.metadata
    const key = `${registryPrefix}${kind.storageKey}/${kind.namespaced ? `${namespace}/${name}` : name}`
    await this.#commit(key, createObjectCodec(definition).encode(object, []))
    this.report.wrote()
    if (kind.storageKey === 'core/services') this.#services.push(object as Service)
    if (kind.storageKey === 'networking.k8s.io/ipaddresses')
      this.#addresses.add((object as IpAddressObject).metadata.name ?? '')
  }

  async #commit(key: string, value: Uint8Array): Promise<void> {
    const conditions = [{ key, modRevision: 0 }]
    const { ok } = await this.#store.commit({ conditions, operations: [{ type: 'put', key, value }] })
    if (!ok) throw new Error(`the store has ${key} already: a state is put into a store of its own`)
  }
}

/** A version of a kind, as an object names it. */
interface Version {
  readonly kind: StoredKind
  readonly definition: ResourceDefinition
}

interface Readable extends Version {
  readonly object: KubernetesObject
}

const definitionKind = 'CustomResourceDefinition'

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
