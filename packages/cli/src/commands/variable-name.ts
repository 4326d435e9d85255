/** Why a text is no name of an environment variable, in the words of kubectl; undefined where it is one. */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name)) {
    return "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
  }
  if (name === '.' || name === '..') return `must not be '${name}'`
  return name.startsWith('..') ? "must not start with '..'" : undefined
}
