import { isJsonObject, type KubernetesObject, type Resource, sortKeys } from '@coracle/api'
import { findJsonPath, JsonPathError, printJsonPath } from '@coracle/api/jsonpath'
import { CliError, PrintError } from '../cli-error.ts'
import { kindOf, objectText } from '../resources/object-text.ts'
import { printColumns } from './custom-columns.ts'
import { safeInHtml } from './go-json.ts'
import { goSyntax } from './go-syntax.ts'
import type { OutputFormat } from './output-format.ts'
import { serialize, withoutManagedFields } from './serialize.ts'

/** Formats in which objects are printed by themselves, and not as rows of a table that the server draws. */
export type ObjectFormat = Exclude<OutputFormat, { readonly type: 'table' }>

export interface PrintStyle {
  readonly managedFields?: boolean
  /** Custom columns have a line of headers. */
  readonly headers?: boolean
  /** A template's fields have to be there. */
  readonly requireKeys?: boolean
  /** Each object is printed as the first is: nothing stands between YAML documents. */
  readonly startsAnew?: boolean
  /** Puts the fields of an object that is printed as it is in an order; sorted unless given. */
  readonly order?: (resource: Resource, object: unknown) => unknown
}

/** An object and the resource it belongs to. */
export interface Found {
  readonly resource: Resource
  readonly object: KubernetesObject
}

/** Prints objects one after another, or several as one list. */
export class ObjectPrinter {
  readonly #format: ObjectFormat
  readonly #style: PrintStyle
  #isStarted = false
  /** How wide each of custom columns has been so far. */
  readonly #widths: number[] = []

  constructor(format: ObjectFormat, style: PrintStyle = {}) {
    this.#format = format
    this.#style = style
  }

  /** Whether all that is printed of an object is its name. */
  get printsNames(): boolean {
    return this.#format.type === 'name'
  }

  /** One object. YAML documents and columns know what has been printed before. */
  one(found: Found): Promise<string> {
    const shown = this.#shown(found.object)
    const { order } = this.#style
    const isWhole = this.#format.type === 'json' || this.#format.type === 'kyaml'
    return order === undefined || !isWhole
      ? this.#print([found], shown)
      : this.#print([found], order(found.resource, shown), true)
  }

  /**
   * One object, and what happened to it: as an event of a watch, which has no metadata of its own to leave managed fields out of. JSON is
   * on one line, and columns are those of the event.
   */
  async event(type: string, found: Found): Promise<string> {
    const event = { type, object: sortKeys(found.object) }
    if (this.#format.type === 'json') return `${safeInHtml(JSON.stringify(event))}\n`
    return this.#print([found], event, false, [event])
  }

  /** What is printed of each of several objects, or of events about them: columns are as wide as all need. */
  async *each(found: readonly Found[], event?: string): AsyncIterable<string> {
    if (this.#format.type !== 'custom-columns') {
      for (const each of found) yield await (event === undefined ? this.one(each) : this.event(event, each))
      return
    }
    const rows = found.map(({ object }) => (event === undefined ? object : { type: event, object: sortKeys(object) }))
    if (rows.length > 0) yield await this.#print(found, rows, false, rows)
  }

  /** Several objects: as a List where the format prints whole values. */
  many(found: readonly Found[]): Promise<string> {
    const items = found.map(({ object }) => this.#shown(object))
    return this.#print(found, { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items })
  }

  /** The same as the list that Go has a type for: its fields are in the order of the type's. */
  manyTyped(found: readonly Found[]): Promise<string> {
    const items = found.map(({ object }) => sortKeys(this.#shown(object)))
    return this.#print(found, { kind: 'List', apiVersion: 'v1', metadata: {}, items }, true)
  }

  async #print(
    found: readonly Found[],
    whole: unknown,
    isOrdered = false,
    rows: readonly unknown[] = found.map(({ object }) => object),
  ): Promise<string> {
    const isFirst = !this.#isStarted || this.#style.startsAnew === true
    this.#isStarted = true
    const format = this.#format
    switch (format.type) {
      case 'name':
        return found
          .map(({ resource, object }) => `${objectText(kindOf(resource, object), object.metadata.name)}\n`)
          .join('')
      case 'json':
      case 'kyaml':
        return serialize(whole, format.type, isOrdered)
      case 'yaml':
        return `${isFirst ? '' : '---\n'}${await serialize(whole, 'yaml')}`
      case 'custom-columns':
        return printColumns(format.columns, rows, isFirst && this.#style.headers !== false, this.#widths)
      case 'jsonpath':
        return this.#jsonPath(format, whole)
      case 'go-template':
        return this.#goTemplate(format, whole)
    }
  }

  #jsonPath({ template, text, asJson }: Extract<ObjectFormat, { type: 'jsonpath' }>, whole: unknown): string {
    const options = { requireKeys: this.#style.requireKeys === true }
    try {
      if (template instanceof JsonPathError) throw template
      if (!asJson) return printJsonPath(template, whole, options)
      const results = findJsonPath(template, whole, options)
      return results.map((found) => `${JSON.stringify(sortKeys(found), undefined, 4)}\n`).join('')
    } catch (error) {
      throw new CliError(jsonPathFailure(text, whole, error instanceof Error ? error.message : String(error)))
    }
  }

  async #goTemplate({ template }: Extract<ObjectFormat, { type: 'go-template' }>, whole: unknown): Promise<string> {
    const { executeGoTemplate, explainFailure, TemplateError } = await import('./go-template/index.ts')
    try {
      return executeGoTemplate(template, whole, { requireKeys: this.#style.requireKeys === true })
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      throw new PrintError(
        `error executing template ${JSON.stringify(template.text)}: ${error.message}`,
        explainFailure(template, whole, error),
      )
    }
  }

  #shown(object: KubernetesObject): unknown {
    // kubectl hides the managed fields of what people read, not of what templates take out of it.
    const isForPeople = ['json', 'kyaml', 'yaml'].includes(this.#format.type)
    if (this.#style.managedFields === true || !isForPeople || !isJsonObject(object)) return object
    return withoutManagedFields(object)
  }
}

/** What is said of a template that cannot be executed, with what it was given. */
const jsonPathFailure = (text: string, data: unknown, why: string): string =>
  [
    `error executing jsonpath ${JSON.stringify(text)}: Error executing template: ${why}. Printing more information for debugging the template:`,
    '\ttemplate was:',
    `\t\t${text}`,
    '\tobject given to jsonpath engine was:',
    `\t\t${goSyntax(data)}\n\n\n`,
  ].join('\n')
