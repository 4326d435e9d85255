import type { KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import type { Host } from '../host.ts'
import { kindOf, objectText } from '../resources/object-text.ts'
import { type Found, ObjectPrinter } from './object-printer.ts'
import { type OutputFormatFlags, readOutputFormat } from './output-format.ts'

/** What follows the verb in messages: what `--dry-run` has checked, and where. */
export const dryRunText = { none: '', client: ' (dry run)', server: ' (server dry run)' } as const

export type DryRun = keyof typeof dryRunText

/** Flags of every command that says what it has done. */
export interface OutcomeFlags extends OutputFormatFlags {
  readonly dryRun: DryRun
  readonly showManagedFields?: boolean
  readonly allowMissingTemplateKeys?: boolean
  /** Whether words of an outcome say that it was only tried; true unless set. */
  readonly tellsDryRun?: boolean
  /** Fields are printed in the order in which kinds declare them, and not sorted. */
  readonly hasDeclaredOrder?: boolean
  /** Each object is printed as if it were the first, as by those of kubectl's commands that make a printer for each. */
  readonly startsAnew?: boolean
}

/** What was done with an object. */
export interface Outcome {
  /** Such as `created`. */
  readonly verb: string
  readonly object: KubernetesObject
  /** Where it is not an object of the resource that the command was given. */
  readonly resource?: DiscoveredResource
}

/** Says what was done with objects, one after another: `deployment.apps/web scaled`, or the objects themselves where `-o` asks for them. */
export class OutcomePrinter {
  readonly #host: Host
  readonly #dryRun: DryRun
  readonly #objects: ObjectPrinter | undefined

  private constructor(host: Host, dryRun: DryRun, objects: ObjectPrinter | undefined) {
    this.#host = host
    this.#dryRun = dryRun
    this.#objects = objects
  }

  /** Rejects with a CliError where `-o` names no format. All that printing takes is loaded meanwhile, in which no virtual time passes. */
  static for(host: Host, flags: OutcomeFlags): Promise<OutcomePrinter> {
    return host.environment.clock.hold(OutcomePrinter.#load(host, flags))
  }

  static async #load(host: Host, flags: OutcomeFlags): Promise<OutcomePrinter> {
    const format = await readOutputFormat(host, flags, { tables: false })
    const isText = format === undefined || format.type === 'table'
    const style = {
      managedFields: flags.showManagedFields === true,
      requireKeys: flags.allowMissingTemplateKeys === false,
      startsAnew: flags.startsAnew === true,
      ...(flags.hasDeclaredOrder === true && !isText
        ? { order: (await import('./declared-order.ts')).inDeclaredOrder }
        : {}),
    }
    if (format?.type === 'yaml') await import('@coracle/client/go-yaml')
    const objects = isText ? undefined : new ObjectPrinter(format, style)
    return new OutcomePrinter(host, flags.tellsDryRun === false ? 'none' : flags.dryRun, objects)
  }

  /** Whether objects are printed, and not words: then what else there is to say goes to standard error, or nowhere. */
  get printsObjects(): boolean {
    return this.#objects !== undefined
  }

  async print(resource: DiscoveredResource, outcome: Outcome): Promise<void> {
    const { object } = outcome
    if (this.#objects !== undefined) this.#host.stdout.write(await this.#objects.one({ resource, object }))
    else this.#host.stdout.write(outcomeLine(resource, outcome, this.#dryRun))
  }

  /** Prints objects as one list; nothing where words are printed. */
  async printList(found: readonly Found[]): Promise<void> {
    if (this.#objects !== undefined) this.#host.stdout.write(await this.#objects.manyTyped(found))
  }
}

/** `pod/web created (dry run)` */
function outcomeLine(resource: DiscoveredResource, { verb, object }: Outcome, dryRun: DryRun): string {
  const { name, generateName = '' } = object.metadata
  return `${objectText(kindOf(resource, object), name ?? generateName)} ${verb}${dryRunText[dryRun]}\n`
}

/** A printer that is made when it is first needed, which may tell that `-o` names no format. */
export function lazyPrinter(host: Host, flags: OutcomeFlags): () => Promise<OutcomePrinter> {
  let printer: Promise<OutcomePrinter> | undefined
  return () => {
    printer ??= OutcomePrinter.for(host, flags)
    return printer
  }
}
