/** A fault that the person who ran the script can act on: its message is printed as it is, without a stack. */
export class Failure extends Error {
  name = 'Failure';
}

/** This machine cannot do what was asked, whatever is tried: nothing went wrong, and something else is needed. */
export class Unsupported extends Failure {
  name = 'Unsupported';
}
