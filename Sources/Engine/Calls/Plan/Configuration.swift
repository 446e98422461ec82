import RPCurlInterceptors
import RPCurlPlatform
import RPCurlProgram

/// Reads the configuration of a command: the user's file, the project file, and the target of the environment.
package enum Configuration {
  /// The variable of the environment that names the target of a method that is given alone.
  package static let targetVariable = "RPCURL_TARGET"

  /// Adds the options of the file that the arguments name, or of the standard file and the project file.
  ///
  /// - Parameters:
  ///   - invocation: The command line.
  ///   - environment: Returns the value of an environment variable.
  ///   - directory: The working directory, absolute and without links; nil if it was removed.
  /// - Throws: `Failure` if a file is invalid or not trusted.
  package static func read(
    into invocation: inout Invocation, environment: (String) -> String?,
    directory: String? = FileContents.workingDirectory
  ) throws(Failure) {
    guard OptionTable[.config].commands.contains(CommandSet(invocation.command)) else { return }
    let profile = invocation.text(.profile)
    let isNamed = invocation.last(.config) != nil
    let project = try isNamed ? nil : projectFile(environment, directory)
    let user = try userFile(
      invocation, environment, isDemanded: isNamed || profile != nil && project == nil)
    var files: [ConfigurationFile] = []
    if let user {
      files.append(user)
      invocation.configuration.files.append(.init(path: user.path, isTrusted: nil))
    }
    var standing: ProjectFile.Standing?
    if let project {
      let found = try project.standing(environment)
      files.append(try ConfigurationFile(project.path, contents: project.contents))
      invocation.configuration.files.append(.init(path: project.path, isTrusted: found == .trusted))
      standing = found
    }
    if let profile { try check(profile, in: files) }
    var common: [ConfigurationLayer] = []
    var own: [ConfigurationLayer] = []
    for file in files {
      var owner = ConfigurationLayer.Owner.user
      var (lines, ownLines) = file.lines(profile: profile)
      if let project, let standing, file.path == project.path {
        owner = .project(isTrusted: standing == .trusted)
        let project = ProjectLines(file: project, standing: standing, command: invocation.command)
        lines = try project.resolved(lines)
        ownLines = try ownLines.map { (lines) throws(Failure) in try project.resolved(lines) }
      }
      common.append(ConfigurationLayer(path: file.path, profile: nil, owner: owner, lines: lines))
      if let ownLines {
        own.append(
          ConfigurationLayer(path: file.path, profile: profile, owner: owner, lines: ownLines))
      }
    }
    let target = environment(targetVariable).flatMap { $0.isEmpty ? nil : $0 }
    invocation.configure(
      common + own,
      environmentTarget: target.map { Positional($0, .environment(name: targetVariable)) })
    if let project, standing != .trusted, let user, invocation.configuredTarget?.origin.file == project.path,
      ConfiguredTarget.isUsed(by: invocation)
    {
      invocation.configuration.withheld = invocation.withholdCredentials(
        of: user.path, isHarmless: BuiltIns.areHarmless)
    }
  }

  /// The path of the standard file.
  package static func userPath(_ environment: (String) -> String?) -> String? {
    if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
      return "\(directory)/rpcurl/config"
    }
    return environment("HOME").flatMap { $0.isEmpty ? nil : "\($0)/.config/rpcurl/config" }
  }

  /// The project file of a working directory; nil if absent.
  package static func projectFile(
    _ environment: (String) -> String?, _ directory: String? = FileContents.workingDirectory
  ) throws(Failure) -> ProjectFile? {
    guard let directory, let found = ProjectFile.directory(from: directory, home: environment("HOME")) else {
      return nil
    }
    return try ProjectFile(in: found)
  }

  private static func userFile(
    _ invocation: Invocation, _ environment: (String) -> String?, isDemanded: Bool
  ) throws(Failure) -> ConfigurationFile? {
    guard let path = invocation.last(.config)?.text ?? userPath(environment) else {
      guard isDemanded, let profile = invocation.text(.profile) else { return nil }
      throw Failure(
        .usage, "--profile \(profile)", "no configuration file found", hint: "add --config FILE")
    }
    let file = try ConfigurationFile(
      path, isDemanded: invocation.last(.config) != nil, waitLimit: invocation.duration(.maxTime))
    if let file { return file }
    guard isDemanded, let profile = invocation.text(.profile) else { return nil }
    throw Failure(
      .usage, "--profile \(profile)", "\(path) does not exist",
      hint: "write [profile \(profile)] and its options into it, or add --config FILE")
  }

  /// Throws if no file has the profile.
  private static func check(_ profile: String, in files: [ConfigurationFile]) throws(Failure) {
    guard !files.contains(where: { $0.profileNames.contains(profile) }) else { return }
    let names = files.flatMap(\.profileNames)
    let paths = files.map(\.path).joined(separator: " and ")
    throw Failure(
      .usage, "--profile \(profile)", "\(paths) \(files.count == 1 ? "has" : "have") no such profile",
      hint: names.isEmpty
        ? "the \(files.count == 1 ? "file has" : "files have") no profiles"
        : "profiles: \(names.joined(separator: ", "))")
  }
}
