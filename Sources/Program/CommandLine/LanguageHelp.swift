extension Help {
  /// The page of the language: `rpcurl help language`, and rpcurl-language(7), which scripts/generate-docs makes of it.
  package static let language = #"""
    PATHS
    A path names a value in a message, by names of fields in the schema or in JSON.
    The first full stop can be omitted, except in conditions.

      .user.name                    a field
      .items[0]  .items[-1]         an element of a list; the last one
      .items[].name                 a field of each element
      .labels.zone  .labels["a.b"]  the value of a key of a map; [5] for numbers
      .[pkg.ext]                    an extension
      .any[example.com/pkg.T].id    the content of an Any of this type
      .                             the whole message

    An element that a message lacks is absent. A path that the type lacks is an
    error before the call. With --set, [] appends an element: lines[].sku=A adds one
    with this field, and lines[-1].qty=2 continues it. A path has no values: where
    values are replaced, ${ in the key of a path is an error, and \u0024{ is ${.

    VALUES
    ${...} is replaced by a value. $${ is a literal ${. An unknown name is an error.

      ${NAME}  ${NAME.path}         a variable: --var, or set NAME = JSON
      ${env.NAME}                   a variable of the environment
      ${row.NAME}                   a column of the current row of a suite
      ${last.path}  ${last[0].path} the last message of the response; the first one
      ${last.status}                the status of the last call; a field of this
                                    name is ${last[-1].status}, also of the next
      ${last.header.NAME}  ${last.trailer.NAME}  ${last.detail.TYPE.path}
      ${request.path}  ${request.header.NAME}
                                    of the request, in stubs of mock
      ${NAME[${X}].path}            of the element whose key is the value of X
      ${uuid()}  ${random(1,9)}     a random UUID; a number from 1 to 9
      ${now()}  ${now(-90s)}        the time in UTC; units are ms, s, m, h and d
      ${base64(X)}                  X is 'text', or what else ${X} can contain
      ${base64decode(X)}            the text that X is the base64 of
      ${toInt(X)}  ${count(X)}      the whole number in a text; the number of
                                    elements of a list or an object
      ${sort(X)}                    a list in ascending order, of numbers or text
      ${regex(X, 'id=(.+)')}        the first group of the first match in X, or the
                                    match if the expression has no group
      ${file(PATH)}                 the text of a file, without its last line end
      ${message(TYPE, JSON)}        the bytes of a message, in base64: in data and
                                    in stubs
      ${offset()}  ${last()}        the position of a piece of --chunk; whether it
                                    is the last

    Within a string of JSON a value is text, elsewhere JSON. Values are not expanded
    again, and a value is never an option, a directory or a command. Expanded are:

      session, run, test, mock      everything but request and exactly of stubs.
                                    $NAME is a short form for a whole value of
                                    JSON, argument or value of a header
      -d TEXT, --set, -H            with --expand
      files, standard input, rows   with --expand=files; env, file: --expand=all
      --use header, --use edit      with expand=true

    Values from elsewhere: @FILE, env:NAME and cmd:COMMAND are read where an option
    or a key says so, such as --bearer @token, --var id=env:ID or
    --use 'header,set=x-key:cmd:pass api'. A command is run without a shell.

    CONDITIONS
    Conditions follow expect, are the values of assert,check= and retry,until=, and
    in stubs of mock a list about the request: "where": [".id == 3"].

      status not_found,aborted      the status; != for any other
      error =~ ^no item             the message of the status
      header NAME == text           a header; NAME alone: it exists
      trailer NAME absent           a trailer
      detail TYPE .path == X        a detail of the status
      count >= 2                    the number of messages of the response
      latency < 250ms               the duration of the call, with its unit
      connection http == 2          of the connection: http, tls (as 1.3) or address
      certificate expires > 30d     of the server's certificate: expires, subject,
                                    issuer or name
      .path == X                    the last message. Before the path: first, any,
                                    every, message N
      list .path == [1,2]           the values of all messages
      ${X} == Y                     a variable, or another value not of the call

      == != < <= > >=               X has the type of the left side: text up to the
                                    end, or JSON. Another path is ${last.path}
      =~ !~                         a regular expression in the syntax of RE2
      contains X                    a part of text, of a list or of an object
      exists  absent                set, or not set
      is TYPE                       string, number, integer, bool, list, object,
                                    null, uuid or timestamp
      size 3  size > 3              elements, characters or bytes
      ascending  descending         the order of a list
      golden FILE                   the JSON in a file; --update writes it

    After X: unordered for lists, within 0.1 or within 1% for each number.
    In --use, a value that begins with ', ", [ or { ends at its match:
    --use "assert,check='.tags == [\"a\",\"b\"]',name=tags".

    """#
}
