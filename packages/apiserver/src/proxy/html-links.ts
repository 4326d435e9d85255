import { Transform } from 'node:stream'

/** A start tag that is longer is passed on as it is, and so is all that follows. */
export const htmlTagBytesMax = 64 * 1024

/**
 * Changes the addresses that a page of HTML leads to, and nothing else, as it passes through: what is held at a time is one
 * start tag. Bytes are taken for Latin-1, which any encoding that knows ASCII survives.
 */
export function createLinkRewriter(rewrite: (url: string) => string): Transform {
  const scanner = new LinkScanner(rewrite)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      done(null, Buffer.from(scanner.push(chunk.toString('latin1')), 'latin1')),
    flush: (done) => done(null, Buffer.from(scanner.end(), 'latin1')),
  })
}

/** The attributes that are addresses, by tag, as upstream has them (apimachinery's util/proxy). */
const urlAttributes: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    a: 'href',
    applet: 'codebase',
    area: 'href',
    audio: 'src',
    base: 'href',
    blockquote: 'cite',
    body: 'background',
    button: 'formaction',
    command: 'icon',
    del: 'cite',
    embed: 'src',
    form: 'action',
    frame: 'longdesc src',
    head: 'profile',
    html: 'manifest',
    iframe: 'longdesc src',
    img: 'longdesc src usemap',
    input: 'src usemap formaction',
    ins: 'cite',
    link: 'href',
    object: 'classid codebase data usemap',
    q: 'cite',
    script: 'src',
    source: 'src',
    video: 'poster src',
  }).map(([tag, attributes]) => [tag, new Set(attributes.split(' '))]),
)

/** Elements whose content is text, whatever it looks like. */
const textElements: ReadonlySet<string> = new Set([
  'iframe',
  'noembed',
  'noframes',
  'plaintext',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
])

/** Where text without tags ends, and how long that is. */
interface Terminator {
  readonly pattern: RegExp
  readonly length: number
}

const commentEnd: Terminator = { pattern: /-->/, length: 3 }
const never: Terminator = { pattern: /(?!)/, length: 0 }

/** How far a start tag has been read. */
interface TagPosition {
  at: number
  /** What the value of an attribute at that place began with; '' outside of such a value. */
  quote: string
  /** Whether only a value can follow. */
  isAfterEquals: boolean
}

class LinkScanner {
  readonly #rewrite: (url: string) => string
  /** Begins with an unfinished tag, or with what may be the beginning of a terminator. */
  #held = ''
  /** Set inside a start tag. */
  #tag: TagPosition | undefined
  /** Set inside a comment and the like. */
  #until: Terminator | undefined

  constructor(rewrite: (url: string) => string) {
    this.#rewrite = rewrite
  }

  /** Takes more of the page, and returns what is done with. */
  push(text: string): string {
    let rest = this.#held + text
    let done = ''
    this.#held = ''
    while (rest !== '') {
      const taken = this.#take(rest)
      if (taken === undefined) break
      done += taken.text
      rest = rest.slice(taken.length)
    }
    this.#held = rest
    return done
  }

  /** What is left when the page has ended. */
  end(): string {
    return this.#held
  }

  /** Passes on the beginning of `rest`. Undefined where more has to come first. */
  #take(rest: string): { readonly text: string; readonly length: number } | undefined {
    if (this.#until !== undefined) return this.#takeUntil(rest, this.#until)
    if (this.#tag !== undefined) return this.#takeTag(rest, this.#tag)
    const start = rest.indexOf('<')
    if (start !== 0) return asItIs(start < 0 ? rest : rest.slice(0, start))
    if (rest.startsWith('<!--')) {
      this.#until = commentEnd
      return asItIs('<!--')
    }
    if ('<!--'.startsWith(rest)) return undefined
    if (!/^<[a-z]/i.test(rest)) return asItIs('<')
    this.#tag = { at: 1, quote: '', isAfterEquals: false }
    return asItIs('')
  }

  #takeUntil(
    rest: string,
    { pattern, length }: Terminator,
  ): { readonly text: string; readonly length: number } | undefined {
    const found = pattern.exec(rest)
    if (found !== null) {
      this.#until = undefined
      return asItIs(rest.slice(0, found.index + found[0].length))
    }
    // Its beginning may be at the end.
    const sure = length === 0 ? rest.length : rest.length - length + 1
    return sure > 0 ? asItIs(rest.slice(0, sure)) : undefined
  }

  #takeTag(rest: string, tag: TagPosition) {
    while (tag.at < rest.length) {
      const character = rest.charAt(tag.at)
      tag.at += 1
      if (tag.quote !== '') {
        if (character === tag.quote) tag.quote = ''
      } else if (character === '>') return this.#takeWholeTag(rest.slice(0, tag.at))
      else if (tag.isAfterEquals && (character === '"' || character === "'")) tag.quote = character
      tag.isAfterEquals = character === '=' || (tag.isAfterEquals && /\s/.test(character))
    }
    if (rest.length <= htmlTagBytesMax) return undefined
    this.#until = never
    return asItIs('')
  }

  #takeWholeTag(tag: string) {
    this.#tag = undefined
    const name = /^<([^\s/>]+)/.exec(tag)?.[1]?.toLowerCase() ?? ''
    if (name === 'plaintext') this.#until = never
    else if (textElements.has(name)) this.#until = { pattern: new RegExp(`</${name}`, 'i'), length: name.length + 2 }
    const attributes = urlAttributes.get(name)
    const text = attributes === undefined ? tag : rewriteTag(tag, name.length + 1, attributes, this.#rewrite)
    return { text, length: tag.length }
  }
}

const asItIs = (text: string) => ({ text, length: text.length })

/** Reads attributes one after the other: no character is looked at twice, whatever is in the tag. */
function rewriteTag(
  tag: string,
  afterName: number,
  attributes: ReadonlySet<string>,
  rewrite: (url: string) => string,
): string {
  let made = tag.slice(0, afterName)
  let at = afterName
  const next = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const text = pattern.exec(tag)?.[0] ?? ''
    at += text.length
    return text
  }
  while (at < tag.length) {
    made += next(/[\s/>"'=]*/y)
    const name = next(/[^\s/>=]*/y)
    const equals = next(/\s*=\s*/y)
    const value = equals === '' ? '' : next(/"[^"]*"|'[^']*'|[^\s>]*/y)
    made += name + equals + (attributes.has(name.toLowerCase()) ? rewriteValue(value, rewrite) : value)
  }
  return made
}

function rewriteValue(value: string, rewrite: (url: string) => string): string {
  const quote = /^["']/.exec(value)?.[0] ?? ''
  return quote === '' ? rewrite(value) : `${quote}${rewrite(value.slice(1, -1))}${quote}`
}
