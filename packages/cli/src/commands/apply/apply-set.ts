import { createHash } from 'node:crypto'
import { checkName, hasReason, type KubernetesObject, kubernetesVersion } from '@coracle/api'
import type { ApplyOptions, Client, DeleteOptions, DiscoveredResource } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import { fieldManagerOf } from '../../manifests/field-managers.ts'
import type { OutcomePrinter } from '../../output/outcome-printer.ts'
import { listAll } from '../../resources/fetch.ts'
import type { ResourceCatalog } from '../../resources/resource-catalog.ts'
import type { Session } from '../../session.ts'
import type { Done, Placed } from '../manifest-command.ts'
import { keyOf } from '../targets.ts'

// Labels and annotations of KEP 3659, "ApplySet: kubectl apply --prune redesign".
const memberLabel = 'applyset.kubernetes.io/part-of'
const idLabel = 'applyset.kubernetes.io/id'
const parentTypeLabel = 'applyset.kubernetes.io/is-parent-type'
const toolingAnnotation = 'applyset.kubernetes.io/tooling'
const namespacesAnnotation = 'applyset.kubernetes.io/additional-namespaces'
const kindsAnnotation = 'applyset.kubernetes.io/contains-group-kinds'
const formerResourcesAnnotation = 'applyset.kubernetes.io/contains-group-resources'

/** What works with a set, in whose name nothing else may. It is kubectl's, so that either program goes on where the other left off. */
const tool = 'kubectl'

/** Who writes the parent of a set. */
const applySetFieldManager = fieldManagerOf('applyset')

/** Parents that need no leave. */
const builtInParents = ['secrets', 'configmaps']

/** The kinds and namespaces in which a set has members. */
interface Reach {
  readonly resources: ReadonlyMap<string, DiscoveredResource>
  readonly namespaces: ReadonlySet<string>
}

const nowhere: Reach = { resources: new Map(), namespaces: new Set() }

/** How the server is asked to write. */
type WriteFlags = Pick<ApplyOptions, 'dryRun' | 'fieldValidation'> & {
  /** Nothing is written. */
  readonly local: boolean
  /** Is told what is taken from others. */
  readonly warn: (text: string) => void
}

export interface ApplySetPruning {
  /** What was applied: it stays. */
  readonly done: readonly Done[]
  readonly printer: OutcomePrinter
  readonly deleteOptions: DeleteOptions
}

/**
 * Objects that are applied together. Each has a label that says so, and a parent object notes of which kinds they are and in which namespaces:
 * what has the label and was not applied again is pruned (KEP 3659).
 */
export class ApplySet {
  readonly #client: Client
  readonly #catalog: ResourceCatalog
  readonly #resource: DiscoveredResource
  readonly #name: string
  readonly #namespace: string
  readonly #flags: WriteFlags
  /** As its parent has it before anything is done. */
  #before = nowhere
  /** As it is once all is applied. */
  #after = nowhere

  private constructor(session: Session, catalog: ResourceCatalog, parent: Parent, flags: WriteFlags) {
    this.#client = session.client
    this.#catalog = catalog
    this.#resource = parent.resource
    this.#name = parent.name
    // As with kubectl it has to be named: that of the context does not count.
    this.#namespace = parent.resource.namespaced ? (session.givenNamespace ?? '') : ''
    this.#flags = flags
  }

  /** The set of a parent, `NAME` or `RESOURCE[.GROUP]/NAME`. Rejects with a CliError, in kubectl's words, where that is none. */
  static async of(session: Session, reference: string, flags: WriteFlags): Promise<ApplySet> {
    const catalog = await session.catalog()
    return new ApplySet(session, catalog, parentOf(catalog, reference), flags)
  }

  /** Rejects with a CliError where the parent may not be one. */
  async validate(): Promise<void> {
    const { group, version, plural, namespaced } = this.#resource
    const problems: string[] = []
    if (namespaced && this.#namespace === '') problems.push('namespace is required to use namespace-scoped ApplySet')
    if (!this.#isBuiltIn) {
      const permitted = await this.#customParents().catch((error: unknown): readonly string[] => {
        problems.push(`identifying allowed custom resource parent types: ${messageOf(error)}`)
        return []
      })
      if (!permitted.includes(`${plural}.${group}`)) {
        const text = JSON.stringify(`${group}/${version}, Resource=${plural}`)
        problems.push(`resource ${text} is not permitted as an ApplySet parent`)
      }
    }
    if (problems.length > 0) throw new AggregateError(problems.map((text) => new CliError(text)))
  }

  get #isBuiltIn(): boolean {
    const { group, version, plural } = this.#resource
    return group === '' && version === 'v1' && builtInParents.includes(plural)
  }

  /** The custom resources that may be parents, as `PLURAL.GROUP`. */
  async #customParents(): Promise<readonly string[]> {
    const resource = this.#catalog.ofKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
    if (resource === undefined) return []
    const { items } = await this.#client.list(resource, { labelSelector: parentTypeLabel })
    return items.map(({ metadata }) => metadata.name ?? '')
  }

  /** The objects as members. Throws a CliError where one says of itself that it is one. */
  withMembers(placed: readonly Placed[]): readonly Placed[] {
    return placed.map((each) => {
      const { labels } = each.object.metadata
      if (labels?.[memberLabel] !== undefined) {
        throw new CliError(`ApplySet label ${JSON.stringify(memberLabel)} already set in input data`)
      }
      const metadata = { ...each.object.metadata, labels: { ...labels, [memberLabel]: this.#id } }
      return { ...each, object: { ...each.object, metadata } }
    })
  }

  /** Has the parent note where members are and will be, so that none is lost where something fails afterwards. */
  async begin(placed: readonly Placed[]): Promise<void> {
    this.#before = await this.#readParent()
    this.#after = {
      resources: new Map(placed.map(({ resource }) => [kindText(resource), resource])),
      namespaces: new Set(placed.flatMap(({ object }) => object.metadata.namespace ?? [])),
    }
    await this.#writeParent({
      resources: new Map([...this.#before.resources, ...this.#after.resources]),
      namespaces: new Set([...this.#before.namespaces, ...this.#after.namespaces]),
    })
  }

  /** Deletes members that were not applied, and has the parent note where the others are. */
  async prune({ done, printer, deleteOptions }: ApplySetPruning): Promise<void> {
    const kept = new Set(done.map(({ object }) => object.metadata.uid))
    for (const { resource, object } of await this.#leftovers(kept)) {
      if (!this.#flags.local) {
        await this.#client.delete(resource, keyOf(object), deleteOptions).catch((error: unknown) => {
          const { name = '', namespace } = object.metadata
          const place = namespace === undefined ? name : `${namespace}/${name}`
          throw new CliError(`pruning ${kindText(resource)} ${place}: ${messageOf(error)}`)
        })
      }
      await printer.print(resource, { verb: 'pruned', object })
    }
    await this.#writeParent(this.#after).catch((error: unknown) => {
      throw new CliError(`apply and prune succeeded, but ApplySet update failed: ${messageOf(error)}`)
    })
  }

  /** Members that were not applied, where there were some before. */
  async #leftovers(kept: ReadonlySet<string | undefined>): Promise<readonly Done[]> {
    const namespaces = [...this.#before.namespaces].sort()
    const places = [...this.#before.resources.values()].flatMap((resource) =>
      resource.namespaced
        ? namespaces.map((namespace) => ({ resource, scope: { namespace } }))
        : { resource, scope: {} },
    )
    const found = places.map(async ({ resource, scope }) => {
      const labelSelector = `${memberLabel}=${this.#id}`
      const objects = await listAll(this.#client, resource, { ...scope, labelSelector }).catch((error: unknown) => {
        const { group, version, kind } = resource
        throw new CliError(`listing ${group}/${version}, Kind=${kind} objects for pruning: ${messageOf(error)}`)
      })
      return objects.filter(({ metadata }) => !kept.has(metadata.uid)).map((object) => ({ resource, object }))
    })
    return (await Promise.all(found)).flat()
  }

  /** Where members are by what the parent notes: nowhere, where there is no parent yet. Rejects with a CliError where it is no parent of this set. */
  async #readParent(): Promise<Reach> {
    const problems = checkName('path-segment', this.#name)
    if (problems.length > 0) {
      const reason = `invalid resource name ${JSON.stringify(this.#name)}: [${problems.join(' ')}]`
      throw new CliError(`failed to fetch ApplySet parent object ${this.#text}: ${reason}`)
    }
    const namespace = this.#namespace === '' ? {} : { namespace: this.#namespace }
    const parent = await this.#client
      .get<KubernetesObject>(this.#resource, { name: this.#name, ...namespace })
      .catch((error: unknown) => {
        if (!hasReason(error, 'NotFound')) {
          throw new CliError(`failed to fetch ApplySet parent object ${this.#text}: ${messageOf(error)}`)
        }
        if (!this.#isBuiltIn) throw new CliError('custom resource ApplySet parents cannot be created automatically')
        return undefined
      })
    if (parent === undefined) return nowhere
    const { annotations = {}, labels = {} } = parent.metadata
    this.#requireOwn(annotations[toolingAnnotation], labels[idLabel])
    const resources = this.#resourcesNoted(annotations)
    const others = annotations[namespacesAnnotation] ?? ''
    const own = this.#namespace === '' ? [] : [this.#namespace]
    return {
      resources: new Map(resources.map((resource) => [kindText(resource), resource])),
      namespaces: new Set([...(others === '' ? [] : others.split(',')), ...own]),
    }
  }

  /** Throws a CliError where the parent is another program's, or that of another set. */
  #requireOwn(tooling: string | undefined, id: string | undefined): void {
    if (tooling === undefined) {
      throw new CliError(
        `ApplySet parent object ${this.#text} already exists and is missing required annotation ${JSON.stringify(toolingAnnotation)}`,
      )
    }
    const manager = tooling.replace(/\/[^/]*$/, '')
    if (manager !== tool) {
      throw new CliError(
        `ApplySet parent object ${this.#text} already exists and is managed by tooling ${JSON.stringify(manager)} instead of ${JSON.stringify(tool)}`,
      )
    }
    if (id === undefined) {
      throw new CliError(`ApplySet parent object ${this.#text} exists and does not have required label ${idLabel}`)
    }
    if (id !== this.#id) {
      throw new CliError(
        `ApplySet parent object ${this.#text} exists and has incorrect value for label ${JSON.stringify(idLabel)} (got: ${id}, want: ${this.#id})`,
      )
    }
  }

  /** The resources of the kinds that the parent notes, or in its former form of the resources. */
  #resourcesNoted(annotations: Readonly<Record<string, string>>): readonly DiscoveredResource[] {
    const { [kindsAnnotation]: kinds, [formerResourcesAnnotation]: former = '' } = annotations
    const wrong = (reason: string) => new CliError(`parsing ApplySet annotation on ${this.#text}: ${reason}`)
    if (kinds === undefined && former === '') {
      throw wrong(
        `coracle requires the ${JSON.stringify(kindsAnnotation)} annotation to be set on all ApplySet parent objects`,
      )
    }
    if (kinds !== undefined) {
      return textsOf(kinds).map((text) => {
        const [kind, group] = splitGroup(text)
        const found = this.#catalog.preferred().find((resource) => resource.kind === kind && resource.group === group)
        if (found !== undefined) return found
        const reason = `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`
        throw wrong(`could not find mapping for kind in ${JSON.stringify(kindsAnnotation)} annotation: ${reason}`)
      })
    }
    return textsOf(former).map((text) => {
      if (this.#catalog.has(text)) return this.#catalog.find(text)
      throw wrong(
        `invalid group resource in ${JSON.stringify(formerResourcesAnnotation)} annotation: ${noMatches(...splitGroup(text))}`,
      )
    })
  }

  /** Has the parent note where members are; it is made where there is none. */
  async #writeParent({ resources, namespaces }: Reach): Promise<void> {
    const { local, warn: _, ...flags } = this.#flags
    if (local) return
    const { group, version, kind } = this.#resource
    const parent = {
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      metadata: {
        name: this.#name,
        ...(this.#namespace === '' ? {} : { namespace: this.#namespace }),
        labels: { [idLabel]: this.#id },
        annotations: {
          [toolingAnnotation]: `${tool}/${kubernetesVersion}`,
          [kindsAnnotation]: [...resources.keys()].sort().join(','),
          [namespacesAnnotation]: [...namespaces]
            .filter((each) => each !== this.#namespace)
            .sort()
            .join(','),
        },
      },
    }
    const write = (force: boolean) =>
      this.#client.apply(this.#resource, parent, { fieldManager: applySetFieldManager, force, ...flags })
    await write(false)
      .catch((error: unknown) => {
        if (!hasReason(error, 'Conflict')) throw error
        // Nobody else is to own these fields.
        this.#flags.warn(
          `Warning: failed to update ApplySet: ${messageOf(error)}\nApplySet field manager ${applySetFieldManager} should own these fields. Retrying with conflicts forced.\n`,
        )
        return write(true)
      })
      .catch((error: unknown) => {
        throw new CliError(`failed to update ApplySet: ${messageOf(error)}`)
      })
  }

  /** What the label of members and of the parent says: a hash of what names the parent. */
  get #id(): string {
    const { kind, group } = this.#resource
    const name = [this.#name, this.#namespace, kind, group].join('.')
    return `applyset-${createHash('sha256').update(name).digest('base64url')}-v1`
  }

  /** The parent as messages call it. */
  get #text(): string {
    return JSON.stringify(`${this.#resource.plural}.${this.#resource.group}/${this.#name}`)
  }
}

/** The parent of a set. */
interface Parent {
  readonly resource: DiscoveredResource
  readonly name: string
}

function parentOf(catalog: ResourceCatalog, reference: string): Parent {
  const slash = reference.indexOf('/')
  const [type, name] = slash < 0 ? ['secrets', reference] : [reference.slice(0, slash), reference.slice(slash + 1)]
  const invalid = (reason: string) => new CliError(`invalid parent reference ${JSON.stringify(reference)}: ${reason}`)
  if (name === '') throw invalid('name cannot be blank')
  if (!catalog.has(type)) throw invalid(noMatches(...splitGroup(type)))
  return { resource: catalog.find(type), name }
}

const noMatches = (resource: string, group: string): string => `no matches for ${group}/, Resource=${resource}`

/** `deployments.apps`: what stands before the group, and the group. */
function splitGroup(text: string): [string, string] {
  const dot = text.indexOf('.')
  return dot < 0 ? [text, ''] : [text.slice(0, dot), text.slice(dot + 1)]
}

const textsOf = (annotation: string): readonly string[] => (annotation === '' ? [] : annotation.split(','))

/** `Deployment.apps`, `ConfigMap` */
const kindText = ({ kind, group }: DiscoveredResource): string => (group === '' ? kind : `${kind}.${group}`)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
