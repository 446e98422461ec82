extension Parser {
  // MARK: Options

  /// Reads an option as it is written; the linker interprets it.
  mutating func parseOption(of site: Handle, _ block: Handle, isStatement: Bool) -> Bool {
    let number = tables.options.nextIndex
    let location = begin(block, 999, tables.sites[site].options.count)
    defer { end(location) }
    if location != .none {
      tables.locations[location].option = .option(number)
      if case .none = tables.locations[block].option { tables.locations[block].option = .block(number) }
    }
    if isStatement {
      guard consume(.option) else { return false }
    }
    var option = OptionNode(firstPart: Int32(tables.nameParts.count), namePlace: Place(token))
    // The option is kept even if it cannot be read, for the number of the next one.
    defer { tables.options.append(option, to: &tables.sites[site].options) }
    repeat {
      guard parseNamePart() else { return false }
      option.partCount += 1
    } while take(".")
    guard consume("=") else { return false }
    option.valuePlace = Place(token)
    guard parseOptionValue(&option) else { return false }
    return isStatement ? consumeEnd(";", location) : true
  }

  private mutating func parseNamePart() -> Bool {
    let isExtension = take("(")
    let first = Int32(tables.words.count)
    var isAbsolute = false
    if isExtension {
      if token.kind == .identifier {
        tables.words.append(token.name)
        advance()
      } else {
        isAbsolute = at(".")
      }
      while take(".") {
        guard let name = consumeIdentifier("Expected identifier.") else { return false }
        tables.words.append(name)
      }
      guard consume(")") else { return false }
    } else {
      guard let name = consumeIdentifier("Expected identifier.") else { return false }
      tables.words.append(name)
    }
    tables.references.append(
      Reference(first: first, count: Int32(tables.words.count) - first, isAbsolute: isAbsolute))
    tables.nameParts.append(NamePart(reference: tables.references.nextIndex - 1, isExtension: isExtension))
    return true
  }

  private mutating func parseOptionValue(_ option: inout OptionNode) -> Bool {
    let isNegative = take("-")
    switch token.kind {
    case .start, .end:
      error("Unexpected end of stream while parsing option value.")
      return false
    case .identifier:
      let name = token.name
      advance()
      if !isNegative {
        option.value = .identifier(name)
      } else if name == Word.inf || name == Word.nan {
        option.value = .number(name == Word.inf ? -.infinity : .nan)
      } else {
        error("Identifier after '-' symbol must be inf or nan.")
        return false
      }
    case .integer, .float:
      let limit: UInt64 = isNegative ? 1 << 63 : .max
      if token.kind == .integer, let value = Literals.integer(tokenBytes, limit: limit) {
        option.value = isNegative ? .negative(Int64(truncatingIfNeeded: 0 &- value)) : .positive(value)
        advance()
      } else {
        guard let value = consumeNumber("Expected number.") else { return false }
        option.value = .number(isNegative ? -value : value)
      }
    case .string:
      if isNegative {
        error("Invalid '-' symbol before string.")
        return false
      }
      guard let range = consumeString("Expected string.") else { return false }
      option.value = .string(range)
    case .symbol:
      guard at("{") else {
        error("Expected option value.")
        return false
      }
      return parseAggregate(&option)
    }
    return true
  }

  /// Skips a value in braces.
  private mutating func parseAggregate(_ option: inout OptionNode) -> Bool {
    let start = token.end
    lexer.sawComment = false
    advance()
    var depth = 1
    while !isAtEnd {
      if at("{") { depth += 1 }
      if at("}") {
        depth -= 1
        if depth == 0 { break }
      }
      advance()
    }
    guard depth == 0 else {
      error("Unexpected end of stream while parsing aggregate value.")
      return false
    }
    option.value = .aggregate(start..<token.start, hasComments: lexer.sawComment)
    advance()
    return true
  }

  // MARK: Enums

  mutating func parseEnum(in message: Handle, _ visibility: Visibility, _ location: Handle) -> Bool {
    advance()
    let site = tables.makeSite(name: Place(token))
    let node = EnumNode(declaration: Declaration(site: site), file: file, parent: message)
    let owner =
      message == .none
      ? schema.enums.append(node, to: &schema.files[file].enums)
      : schema.enums.append(node, to: &schema.messages[message].enums)
    let nameLocation = begin(location, 1)
    let name = consumeIdentifier("Expected enum name.")
    end(nameLocation)
    guard let name else { return false }
    schema.enums[owner].declaration.name = name
    guard consumeEnd("{", location) else { return false }
    while !takeEnd("}", .none) {
      if isAtEnd {
        error("Reached end of input in enum definition (missing '}').")
        return false
      }
      if !parseEnumStatement(owner, location) { skipStatement() }
    }
    guard checkAliases(owner) else { return false }
    schema.enums[owner].visibility = visibility
    return true
  }

  private mutating func parseEnumStatement(_ owner: Handle, _ location: Handle) -> Bool {
    if takeEnd(";", .none) { return true }
    if at(.option) {
      let inner = begin(location, 3)
      defer { end(inner) }
      return parseOption(of: schema.enums[owner].declaration.site, inner, isStatement: true)
    }
    if at(.reserved) { return parseReserved(of: .enum(owner), location) }
    let inner = begin(location, 2, schema.enums[owner].values.count)
    defer { end(inner) }
    return parseEnumValue(owner, inner)
  }

  private mutating func parseEnumValue(_ owner: Handle, _ location: Handle) -> Bool {
    let site = tables.makeSite(name: Place(token))
    let value = schema.values.append(
      EnumValueNode(declaration: Declaration(site: site), owner: owner), to: &schema.enums[owner].values)
    let nameLocation = begin(location, 1)
    let name = consumeIdentifier("Expected enum constant name.")
    end(nameLocation)
    guard let name else { return false }
    schema.values[value].declaration.name = name
    guard consume("=", "Missing numeric value for enum constant.") else { return false }
    let numberLocation = begin(location, 2)
    tables.sites[site].number = Place(token)
    let number = consumeSignedInteger("Expected integer.")
    end(numberLocation)
    guard let number else { return false }
    schema.values[value].number = number
    if at("[") {
      let inner = begin(location, 3)
      defer { end(inner) }
      advance()
      repeat {
        guard parseOption(of: site, inner, isStatement: false) else { return false }
      } while take(",")
      guard consume("]") else { return false }
    }
    return consumeEnd(";", location)
  }

  /// Checks that `allow_alias` is set only where there are aliases.
  private mutating func checkAliases(_ owner: Handle) -> Bool {
    var option = tables.sites[schema.enums[owner].declaration.site].options.first
    while option != .none {
      let node = tables.options[option]
      if node.partCount == 1, isNamed(node, .allow_alias) {
        let name = names[schema.enums[owner].declaration.name]
        guard case .identifier(let value) = node.value, value == Word.true else {
          error(
            "\"\(name)\" declares 'option allow_alias = false;' which has no effect. Please remove the declaration."
          )
          return false
        }
        guard hasAliases(owner) else {
          error(
            "\"\(name)\" declares support for enum aliases but no enum values share field numbers. Please remove the unnecessary 'option allow_alias = true;' declaration."
          )
          return false
        }
        return true
      }
      option = node.next
    }
    return true
  }

  private mutating func hasAliases(_ owner: Handle) -> Bool {
    schema.marks.begin()
    var value = schema.enums[owner].values.first
    while value != .none {
      if schema.marks.insert(schema.values[value].number) != nil { return true }
      value = schema.values[value].next
    }
    return false
  }

  // MARK: Services

  mutating func parseService(_ location: Handle) -> Bool {
    advance()
    let site = tables.makeSite(name: Place(token))
    let service = schema.services.append(
      ServiceNode(declaration: Declaration(site: site), file: file), to: &schema.files[file].services)
    let nameLocation = begin(location, 1)
    let name = consumeIdentifier("Expected service name.")
    end(nameLocation)
    guard let name else { return false }
    schema.services[service].declaration.name = name
    guard consumeEnd("{", location) else { return false }
    while !takeEnd("}", .none) {
      if isAtEnd {
        error("Reached end of input in service definition (missing '}').")
        return false
      }
      if !parseServiceStatement(service, location) { skipStatement() }
    }
    return true
  }

  private mutating func parseServiceStatement(_ service: Handle, _ location: Handle) -> Bool {
    if takeEnd(";", .none) { return true }
    if at(.option) {
      let inner = begin(location, 3)
      defer { end(inner) }
      return parseOption(of: schema.services[service].declaration.site, inner, isStatement: true)
    }
    let inner = begin(location, 2, schema.services[service].methods.count)
    defer { end(inner) }
    return parseMethod(service, inner)
  }

  private mutating func parseMethod(_ service: Handle, _ location: Handle) -> Bool {
    let site = tables.makeSite()
    let method = schema.methods.append(
      MethodNode(declaration: Declaration(site: site), service: service),
      to: &schema.services[service].methods)
    tables.methods.append(MethodSite())
    guard consume(.rpc) else { return false }
    tables.sites[site].name = Place(token)
    let nameLocation = begin(location, 1)
    let name = consumeIdentifier("Expected method name.")
    end(nameLocation)
    guard let name else { return false }
    schema.methods[method].declaration.name = name
    let entry = method - tables.firstMethod
    guard consume("(") else { return false }
    if at(.stream) {
      mark(location, 5, at: token)
      schema.methods[method].isClientStreaming = true
      advance()
    }
    tables.methods[entry].inputPlace = Place(token)
    guard let input = parseMethodType(location, 2), consume(")") else { return false }
    tables.methods[entry].input = input
    guard consume(.returns), consume("(") else { return false }
    if at(.stream) {
      mark(location, 6, at: token)
      schema.methods[method].isServerStreaming = true
      advance()
    }
    tables.methods[entry].outputPlace = Place(token)
    guard let output = parseMethodType(location, 3), consume(")") else { return false }
    tables.methods[entry].output = output
    guard at("{") else { return consumeEnd(";", location) }
    schema.methods[method].hasOptionsBlock = true
    return parseMethodOptions(site, location)
  }

  private mutating func parseMethodType(_ location: Handle, _ number: Int32) -> Handle? {
    let inner = begin(location, number)
    defer { end(inner) }
    return parseUserType()
  }

  private mutating func parseMethodOptions(_ site: Handle, _ location: Handle) -> Bool {
    _ = takeEnd("{", location)
    while !takeEnd("}", .none) {
      if isAtEnd {
        error("Reached end of input in method options (missing '}').")
        return false
      }
      if takeEnd(";", .none) { continue }
      let inner = begin(location, 4)
      defer { end(inner) }
      if !parseOption(of: site, inner, isStatement: true) { skipStatement() }
    }
    return true
  }
}
