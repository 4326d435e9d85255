import type { TokenIdentity } from './authentication.ts'

/** How many tokens a file may have: each connection's token is compared with all of them. */
export const fileTokensMax = 1_000

/**
 * The static tokens of a file in the form of kube-apiserver's `--token-auth-file`: CSV with the columns token, user name, user uid
 * and, optionally, the groups (`"a,b"`). As upstream, further columns are ignored, an empty token is no token, and of two lines
 * with one token the later holds. Throws an Error that names the line.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
 */
export function parseTokenFile(text: string): readonly TokenIdentity[] {
  const identities = new Map<string, TokenIdentity>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === '') continue
    const at = `line ${index + 1}`
    const [token = '', name, uid, groups = ''] = fieldsOf(line, at)
    if (name === undefined || uid === undefined) {
      throw new Error(`${at}: must have the columns token, user name and user uid; groups may follow`)
    }
    if (token === '') continue
    const user = { name, groups: groups === '' ? [] : groups.split(','), ...(uid === '' ? {} : { uid }) }
    identities.set(token, { token, user })
  }
  if (identities.size > fileTokensMax)
    throw new Error(`has ${identities.size} tokens: must have ${fileTokensMax} at most`)
  return [...identities.values()]
}

/** The fields of a line of CSV (RFC 4180): those in quotes may hold commas, and quotes that are doubled. */
function fieldsOf(line: string, at: string): readonly string[] {
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  const fields: string[] = []
  for (;;) {
    const found = field.exec(line)
    if (found === null)
      throw new Error(`${at}, column ${fields.length + 1}: a quote may only stand around a whole field`)
    const [, quoted, plain = '', separator] = found
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (separator === '') return fields
  }
}
