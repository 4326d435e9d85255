import { isFields } from '@coracle/client'

/** A flag and the value it has where a command line does not say another (kubectl.config.k8s.io, CommandOptionDefault). */
export interface OptionDefault {
  /** Without dashes. */
  readonly name: string
  readonly default: string
}

/** Flags of a command that have other values than its own. */
export interface CommandDefaults {
  /** Its words: `set image`. */
  readonly command: string
  readonly options: readonly OptionDefault[]
}

/** A word that stands for a command, with arguments before and behind those that are given. */
export interface Alias extends CommandDefaults {
  readonly name: string
  readonly prependArgs: readonly string[]
  readonly appendArgs: readonly string[]
}

/** What somebody wants commands to do without being told (kubectl.config.k8s.io, Preference). */
export interface Preference {
  readonly defaults: readonly CommandDefaults[]
  readonly aliases: readonly Alias[]
  /** Which credential plugins may run: `AllowAll`, `DenyAll`, `Allowlist`; empty is the first of them. */
  readonly credentialPluginPolicy: string
  /** Their commands; undefined where there is no list. */
  readonly credentialPluginAllowlist: readonly string[] | undefined
}

export const preferenceGroup = 'kubectl.config.k8s.io'

/** What the fields of a version are called that differ from one to the next, and whether it has the policy of plugins. */
interface Version {
  readonly defaults: string
  readonly options: string
  readonly hasPolicy: boolean
}

const versions: Readonly<Record<string, Version>> = {
  [`${preferenceGroup}/v1alpha1`]: { defaults: 'overrides', options: 'flags', hasPolicy: false },
  [`${preferenceGroup}/v1beta1`]: { defaults: 'defaults', options: 'options', hasPolicy: true },
}

/** A preference, and the paths of what its version does not know, in order. */
export interface ReadPreference {
  readonly preference: Preference
  readonly unknown: readonly string[]
}

/** Reads a document. Throws an Error that says why it is no preference. */
export function readPreference(document: unknown): ReadPreference {
  if (!isFields(document)) throw new Error('it is no mapping')
  const { apiVersion, kind } = document
  const version = typeof apiVersion === 'string' ? versions[apiVersion] : undefined
  if (version === undefined || kind !== 'Preference') {
    throw new Error(`no kind "${kind ?? ''}" is registered for version "${apiVersion ?? ''}"`)
  }
  const unknown: string[] = []
  const root = new Part(document, '', unknown)
  const options = (part: Part): readonly OptionDefault[] =>
    part.parts(version.options, (each) => ({ name: each.text('name'), default: each.text('default') }))
  const preference: Preference = {
    defaults: root.parts(version.defaults, (part) => ({ command: part.text('command'), options: options(part) })),
    aliases: root.parts('aliases', (part) => ({
      name: part.text('name'),
      command: part.text('command'),
      prependArgs: part.texts('prependArgs'),
      appendArgs: part.texts('appendArgs'),
      options: options(part),
    })),
    credentialPluginPolicy: version.hasPolicy ? root.text('credentialPluginPolicy') : '',
    credentialPluginAllowlist:
      version.hasPolicy && root.has('credentialPluginAllowlist')
        ? root.parts('credentialPluginAllowlist', allowedCommand)
        : undefined,
  }
  root.text('apiVersion')
  root.text('kind')
  root.end()
  return { preference, unknown: unknown.toSorted() }
}

/** `name` is what `command` was called before. */
function allowedCommand(part: Part): string {
  const [name, command] = [part.text('name'), part.text('command')]
  if (name !== '' && command !== '' && name !== command) {
    throw new Error(
      'both `Name` and `Command` were supplied with different values. `Name` is deprecated, use `Command` instead',
    )
  }
  return command || name
}

/** Fields of which those that were asked for are known. What is of another type than its field throws an Error. */
class Part {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #unknown: string[]
  readonly #known = new Set<string>()

  constructor(fields: Readonly<Record<string, unknown>>, path: string, unknown: string[]) {
    this.#fields = fields
    this.#path = path
    this.#unknown = unknown
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? undefined) !== undefined
  }

  text(name: string): string {
    return this.#textOf(this.#take(name) ?? '', name)
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((each) => this.#textOf(each ?? '', name))
  }

  parts<T>(name: string, read: (part: Part) => T): readonly T[] {
    return this.#list(name).map((each, index) => {
      if (!isFields(each ?? {})) throw new Error(`${this.#path}${name} holds something that is no mapping`)
      const part = new Part(
        (each ?? {}) as Readonly<Record<string, unknown>>,
        `${this.#path}${name}[${index}].`,
        this.#unknown,
      )
      const value = read(part)
      part.end()
      return value
    })
  }

  /** Notes what nobody has asked for. */
  end(): void {
    for (const name of Object.keys(this.#fields)) if (!this.#known.has(name)) this.#unknown.push(this.#path + name)
  }

  #take(name: string): unknown {
    this.#known.add(name)
    return this.#fields[name]
  }

  #list(name: string): readonly unknown[] {
    const value = this.#take(name) ?? []
    if (!Array.isArray(value)) throw new Error(`${this.#path}${name} is no list`)
    return value
  }

  #textOf(value: unknown, name: string): string {
    if (typeof value !== 'string') throw new Error(`${this.#path}${name} is no text`)
    return value
  }
}

/**
 * A preference as the newest version has it, its fields in the order of their type. `none` stands for lists without entries: null, as Go
 * writes them.
 */
export function preferenceValue(preference: Preference, none: null | readonly [] = null) {
  const { defaults, aliases, credentialPluginPolicy, credentialPluginAllowlist = [] } = preference
  const listOf = <T>(list: readonly T[]) => (list.length === 0 ? none : list)
  return {
    kind: 'Preference',
    apiVersion: `${preferenceGroup}/v1beta1`,
    defaults: listOf(
      defaults.map(({ command, options }) => ({ command, options: options.length === 0 ? null : options })),
    ),
    aliases: listOf(
      aliases.map(({ name, command, prependArgs, appendArgs, options }) => ({
        name,
        command,
        ...(prependArgs.length === 0 ? {} : { prependArgs }),
        ...(appendArgs.length === 0 ? {} : { appendArgs }),
        ...(options.length === 0 ? {} : { options }),
      })),
    ),
    ...(credentialPluginPolicy === '' ? {} : { credentialPluginPolicy }),
    ...(credentialPluginAllowlist.length === 0
      ? {}
      : { credentialPluginAllowlist: credentialPluginAllowlist.map((command) => ({ command })) }),
  }
}
