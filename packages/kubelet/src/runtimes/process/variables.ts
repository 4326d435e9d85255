/** Variables of a container by other names, which no program obeys: each value is a whole `NAME=value`. `restoring` undoes it. */
export function variablesUnder(
  prefix: string,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value], index) => [`${prefix}${index}`, `${name}=${value}`]),
  )
}

/**
 * The part of a shell script that gives variables their names back, of which `$1` says how many there are. It takes that from the arguments,
 * and leaves no variable of the shell's own.
 */
export const restoring = (prefix: string): string => `
coracle_count=$1
shift
unset SHLVL OLDPWD
coracle_index=0
while [ "$coracle_index" -lt "$coracle_count" ]; do
  eval "export \\"\\$${prefix}$coracle_index\\"; unset ${prefix}$coracle_index"
  coracle_index=$((coracle_index + 1))
done
`

/**
 * A shell script that runs a command with such variables, of which `$1` says how many there are, where shells hand on none of their names. They
 * are arguments of `env` for the moment until that has become the command: arguments of what stays could be read by everybody.
 * No program that is on every host takes variables from a file or a descriptor: bash hands on what it was given, but imports functions from it and has
 * names of its own; Perl and Node obey variables of the container, and are slow or not there.
 */
export const addingScript = (prefix: string): string => `
coracle_index=$1
shift
while [ "$coracle_index" -gt 0 ]; do
  coracle_index=$((coracle_index - 1))
  eval "set -- \\"\\$${prefix}$coracle_index\\" \\"\\$@\\"; unset ${prefix}$coracle_index"
done
exec /usr/bin/env "$@"
`
